package cluster

import (
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Half of the primaries are not the majority: if that machine is lost, the other half cannot vote either way, and to
// move one would be for nothing.
func TestHalfOfThePrimariesAreNotSpread(t *testing.T) {
	in := standsAs(Even(4, 1), Even(4, 1))
	for i, host := range []string{"a", "c", "a", "c", "b", "c", "b", "c"} {
		in.World.Nodes[i].Host = host
	}
	if from, candidate, _, found := spreadCandidate(in.World); found {
		t.Errorf("%s to take over from %s", candidate.Name, from.Name)
	}
	in.World.Nodes[4].Host = "a"
	if _, _, _, found := spreadCandidate(in.World); !found {
		t.Error("three of four are no crowd either")
	}
}

// A machine that has most of the primaries is a machine that cannot be lost. Primaries move only if that helps.
func TestPrimariesAreSpread(t *testing.T) {
	// Hosts of web-0-0, web-0-1, web-1-0 and so on; the first of each shard is its primary.
	on := func(hosts ...string) func(*valkeyv1.ValkeyCluster, *World) {
		return func(_ *valkeyv1.ValkeyCluster, w *World) {
			for i, host := range hosts {
				w.Nodes[i].Host = host
			}
		}
	}
	gather := on("a", "b", "a", "c", "b", "c")
	and := func(change func(*valkeyv1.ValkeyCluster, *World)) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) { gather(c, w); change(c, w) }
	}
	tryCautions(t, Running, map[string]caution{
		"one machine has two of three, and a replica is where there is none": {gather, "failover web-1-1 from web-1-0", Running},
		"each has one": {on("a", "b", "b", "c", "c", "a"), "", Running},
		"there are two machines, and one of them always has two": {on("a", "b", "a", "b", "b", "a"), "", Running},
		"nobody knows where they are":                            {on(), "", Running},
		"it was only a moment ago":                               {and(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Status.Since = *ago(time.Second) }), "", Running},
		"a replica has just taken over":                          {and(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Status.LastFailover = ago(time.Second) }), "", Running},
		"somebody asked for everything to stand still":           {and(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }), "", Running},
		"the replica is behind":                                  {and(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server.Syncing = true }), "apply PodDisruptionBudget web as closed", Running},
		"another operation has the cluster":                      {and(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Reservation.State = reserve.Others }), "", Running},
	})
}
