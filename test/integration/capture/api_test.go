package capture

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
)

func TestTheAPIServerRefusesSenselessKeepers(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c := newClient(t, b)
	hour := &metav1.Duration{Duration: time.Hour}
	for name, tc := range map[string]struct {
		change func(*capturev1.ObjectKeeperSpec)
		want   string // of the refusal; "" is accepted
	}{
		"FollowObject with a reference": {change: func(*capturev1.ObjectKeeperSpec) {}},
		"mode may be left out":          {change: func(s *capturev1.ObjectKeeperSpec) { s.Mode = "" }},
		"nothing to follow":             {change: func(s *capturev1.ObjectKeeperSpec) { s.FollowRef = nil }, want: "followRef is required"},
		"TTL follows nothing":           {change: func(s *capturev1.ObjectKeeperSpec) { s.Mode, s.TTL = capturev1.TTL, hour }, want: "must be absent"},
		"FollowObject has no ttl":       {change: func(s *capturev1.ObjectKeeperSpec) { s.TTL = hour }, want: "must be absent"},
		"FollowObjectWithTTL needs one": {change: func(s *capturev1.ObjectKeeperSpec) { s.Mode = capturev1.FollowObjectWithTTL }, want: "ttl is required"},
		"a ttl is above zero":           {change: func(s *capturev1.ObjectKeeperSpec) { s.Mode, s.TTL = capturev1.FollowObjectWithTTL, &metav1.Duration{} }, want: "above zero"},
		"a grace is not negative":       {change: func(s *capturev1.ObjectKeeperSpec) { s.NamespaceGrace = &metav1.Duration{Duration: -1} }, want: "must not be negative"},
		"a grace needs an object": {change: func(s *capturev1.ObjectKeeperSpec) {
			*s = capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: hour, NamespaceGrace: hour}
		}, want: "needs an object"},
		"a reference has a UID":              {change: func(s *capturev1.ObjectKeeperSpec) { s.FollowRef.UID = "" }, want: "uid"},
		"a mode that nobody has heard of is": {change: func(s *capturev1.ObjectKeeperSpec) { s.Mode = "Forever" }, want: "Unsupported value"},
	} {
		t.Run(name, func(t *testing.T) {
			cm := configMap("shop", "settings")
			cm.UID = "u1"
			k := keepers.Following(cm, "")
			k.GenerateName = "rules-"
			tc.change(&k.Spec)
			err := c.Create(t.Context(), k, client.DryRunAll)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestASpecCannotBeChanged(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c := newClient(t, b)
	k := &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "immutable-"},
		Spec:       capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: time.Hour}},
	}
	create(t, c, k)
	t.Cleanup(func() { _ = c.Delete(context.Background(), k) })
	k.Spec.TTL.Duration = time.Minute
	if err := c.Update(t.Context(), k); err == nil || !strings.Contains(err.Error(), "immutable") {
		t.Errorf("error %v, want that the spec is immutable", err)
	}
}

func TestSamplesAndExplanations(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	for _, namespace := range []string{"shop", "staging"} { // where some of them live
		create(t, newClient(t, b), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	samples := filepath.Join(harness.Root(t), "config", "samples", area)
	if out, err := b.Kubectl(t.Context(), "apply", "--dry-run=server", "-f", samples); err != nil {
		t.Errorf("apply samples: %v\n%s", err, out)
	}
	out, err := b.Kubectl(t.Context(), "explain", "objectkeeper.spec", "--recursive=false")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"what ends the keeper", "by UID", "a duration", "cannot be changed"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("kubectl explain does not say %q:\n%s", want, out)
		}
	}
	if out, err := b.Kubectl(t.Context(), "get", "ok"); err != nil {
		t.Errorf("short name: %v\n%s", err, out)
	}
}
