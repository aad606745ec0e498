package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// A StatefulSet is not made while a pod has a name that it would give: its controller would try again later and later.
func TestPodsOfBeforeAreWaitedFor(t *testing.T) {
	makes := func(d fsm.Decision, name string) bool {
		return slices.ContainsFunc(d.Do, func(e fsm.Effect) bool {
			apply, is := e.(ApplyChild)
			return is && apply.Child.Name == name
		})
	}
	grow := standsAs(Even(3, 1), Even(5, 1))
	grow.World.Children = append(grow.World.Children,
		Child{Ref: Ref{KindStatefulSet, "web-3"}, Shard: 3}, Child{Ref: Ref{KindStatefulSet, "web-4"}, Shard: 4})
	create := input{Obj: newCluster(), World: nothing(Even(3, 1)), Now: present}
	for name, c := range map[string]struct {
		in     input
		decide func(input) fsm.Decision
		shard  int
	}{
		"of a shard that is added":    {grow, decideScalingUpStatefulSet, 4},
		"of a cluster that was there": {create, decidePending, 1},
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(c.in.World.Children, func(child Child) bool { return child.Kind == KindStatefulSet && child.Shard == c.shard })
			child := &c.in.World.Children[i]
			if d := c.decide(c.in); !makes(d, child.Name) {
				t.Fatalf("it is not made: %+v", d)
			}
			child.Remains = child.Name + "-1"
			d := c.decide(c.in)
			if makes(d, child.Name) || len(d.Do) == 0 {
				t.Fatalf("it is made, or the others are not: %+v", d)
			}
			for i := range c.in.World.Children {
				if other := &c.in.World.Children[i]; other.Remains == "" {
					other.UID, other.Current, other.Settled = "made", true, true
				}
			}
			c.in.World.Reservation.State, c.in.World.Access.Missing = reserve.Ours, false
			if d := c.decide(c.in); !d.Waits() || d.After != recheck || !strings.Contains(d.Message, child.Remains) {
				t.Errorf("it does not say for whom it waits: %+v", d)
			}
		})
	}
}
