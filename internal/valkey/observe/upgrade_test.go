package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

func TestShardFacts(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	set := func(change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: "s1", Generation: 2, Annotations: map[string]string{
			valkeyv1.TemplateAnnotation: "abc", valkeyv1.UpgradeAnnotation: "2026-01-02T03:04:05Z u1"}},
			Status: appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdateRevision: "web-0-1"}}
		change(s)
		return s
	}
	whole := upgrade.Shard{Index: 3, Name: "web-3", UID: "s1", Template: "abc", Upgrade: upgrade.Mark{UID: "u1", Created: at}, Settled: true, Revision: "web-0-1", Replicas: 2}
	changed := func(change func(*upgrade.Shard)) upgrade.Shard {
		s := whole
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		set  *appsv1.StatefulSet
		want upgrade.Shard
	}{
		"as an upgrade left it": {set(func(*appsv1.StatefulSet) {}), whole},
		"not seen yet":          {set(func(s *appsv1.StatefulSet) { s.Generation = 3 }), changed(func(s *upgrade.Shard) { s.Settled = false })},
		"as it was made":        {set(func(s *appsv1.StatefulSet) { s.Annotations = nil }), changed(func(s *upgrade.Shard) { s.Template, s.Upgrade = "", upgrade.Mark{} })},
		"lost":                  {nil, upgrade.Shard{Index: 3, Name: "web-3", Replicas: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, shardFacts(3, "web-3", 2, c.set)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A mark that cannot be read is newer than any upgrade: what is not known to be older is not
// passed by.
func TestMarkOf(t *testing.T) {
	for _, text := range []string{"u1", "2026-01-02T03:04:05Z", "yesterday u1", " "} {
		if m := markOf(text); m.UID == "" || !m.Created.After(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
	if m := markOf(""); m != (upgrade.Mark{}) {
		t.Errorf("no mark is read as %+v", m)
	}
}

// Two machines name the same phase.
func TestVocabulary(t *testing.T) {
	if is, want := string(upgrade.ClusterRunning), string(cluster.Running); is != want {
		t.Errorf("%q, want %q", is, want)
	}
}
