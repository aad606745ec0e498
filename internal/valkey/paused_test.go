package valkey

import (
	"context"
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
)

// Work beside the passes ends where the cluster is paused, or gone, and nowhere else.
func TestPausedIsAlsoForWorkUnderWay(t *testing.T) {
	key := read.Key{Namespace: "shop", Name: "web"}
	for name, c := range map[string]struct{ paused, found, ends bool }{
		"it goes on":   {false, true, false},
		"it is paused": {true, true, true},
		"it is gone":   {false, false, true},
	} {
		p := Parts{Connector: ConnectTo(nil), Sampler: &Sampler{Now: time.Now}, Work: &kube.Worker[struct{}]{}, Access: &kube.Worker[struct{}]{}}
		endless := func(context.Context) (bool, error) { return false, nil }
		p.Work.Begin(key, kube.WithoutResult(endless))
		p.Access.Begin(key, kube.WithoutResult(endless))
		p.Access.Begin(cluster.SettingsWork(key), kube.WithoutResult(endless))
		p.after(key, &valkeyv1.ValkeyCluster{Spec: valkeyv1.ValkeyClusterSpec{Paused: c.paused}}, c.found)
		for what, work := range map[string]read.Work[struct{}]{
			"slots": p.Work.Work(key), "access": p.Access.Work(key), "settings": p.Access.Work(cluster.SettingsWork(key)),
		} {
			if ended := work.State == read.WorkUnknown; ended != c.ends {
				t.Errorf("%s: %s: %q", name, what, work.State)
			}
		}
	}
}
