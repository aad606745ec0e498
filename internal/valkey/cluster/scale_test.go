package cluster

import (
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// rescaled is the bench of a cluster that runs, and of which another size is wanted.
func rescaled(from, to Shape) bench {
	b := newBench()
	stands, stages := standingCluster(sized(newCluster(), from))
	b.Object = func() *valkeyv1.ValkeyCluster {
		c := sized(stands.DeepCopy(), to)
		c.Generation++
		return c
	}
	b.Lost = func() *valkeyv1.ValkeyCluster {
		c := b.Object()
		c.Status = valkeyv1.ValkeyClusterStatus{}
		return c
	}
	role := b.Role
	b.Role = func(e fsm.Effect) string {
		switch e.(type) {
		case reserve.Take, reserve.Release: // whoever sees an old status may give it back, and it is taken again
			return ""
		}
		return role(e)
	}
	b.World = func() World {
		w := clone(stages[len(stages)-1].world)
		wish(b.Object(), &w)
		return w
	}
	return b
}

// TestScalingHandsOver removes replicas where the pod that goes is the primary.
func TestScalingHandsOver(t *testing.T) {
	b := rescaled(Even(3, 1), Even(3, 0))
	world := b.World
	b.World = func() World {
		w := world()
		candidate, _ := w.Nodes.Shard(1).ByID("id of web-1-1")
		from, _ := w.Nodes.Shard(1).ByID("id of web-1-0")
		takeOver(w.Nodes, Failover{At: memberOf(candidate), From: memberOf(from)})
		gossip(w.Nodes)
		return w
	}
	fsmtest.Drill(t, b)
}

// TestScaling drills every way to another size.
func TestScaling(t *testing.T) {
	for name, c := range map[string]struct{ from, to Shape }{
		"shards are added":                         {Even(3, 1), Even(5, 1)},
		"shards without replicas are added":        {Even(3, 0), Even(4, 0)},
		"replicas are added":                       {Even(3, 1), Even(3, 2)},
		"first replicas are added":                 {Even(3, 0), Even(3, 1)},
		"shards are removed":                       {Even(5, 1), Even(3, 1)},
		"replicas are removed":                     {Even(3, 2), Even(3, 1)},
		"all replicas are removed":                 {Even(3, 1), Even(3, 0)},
		"shards are added and replicas removed":    {Even(3, 1), Even(4, 0)},
		"replicas are added and shards removed":    {Even(4, 0), Even(3, 1)},
		"shards and replicas are removed together": {Even(4, 2), Even(3, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsmtest.Drill(t, rescaled(c.from, c.to))
		})
	}
}
