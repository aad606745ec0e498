package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A child that lost its label gets it back. A shard keeps its template for that: an upgrade may have brought it to another
// than the spec names, and a label is no reason to restart servers.
func TestChildrenGetTheirLabelsBack(t *testing.T) {
	for _, kind := range []string{"Service", KindConfigMap, KindDisruptionBudget, KindStatefulSet} {
		in := standsAs(Even(3, 1), Even(3, 1))
		i := slices.IndexFunc(in.World.Children, func(c Child) bool { return c.Kind == kind })
		c := &in.World.Children[i]
		c.Template = map[string]string{KindStatefulSet: "brought by an upgrade"}[kind]
		if d := decideRunning(in); len(d.Do) > 0 {
			t.Fatalf("%s: a cluster at rest does %v", kind, d.Do)
		}
		c.Unlabelled = true
		isApplied(t, in, *c)
	}
}

// isApplied: this child alone is applied, a shard with the template that it has.
func isApplied(t *testing.T, in input, c Child) {
	t.Helper()
	d := decideRunning(in)
	if len(d.Do) != 1 {
		t.Errorf("%s: %v, want it to be applied", c.Kind, d.Do)
		return
	}
	if a, is := d.Do[0].(ApplyChild); !is || a.Child != c.Ref || a.UID != c.UID || a.Edited != c.Edited || a.Keep != (c.Kind == KindStatefulSet) {
		t.Errorf("%s: %+v", c.Kind, d.Do[0])
	}
}

// A child that a person edited is applied, and what another controller sets is only told.
func TestAnEditedChildIsApplied(t *testing.T) {
	for _, kind := range []string{"Service", KindConfigMap, KindDisruptionBudget, KindStatefulSet} {
		in := standsAs(Even(3, 1), Even(3, 1))
		i := slices.IndexFunc(in.World.Children, func(c Child) bool { return c.Kind == kind })
		c := &in.World.Children[i]
		c.Template = map[string]string{KindStatefulSet: "brought by an upgrade"}[kind]
		c.Contested = `.spec is set by "flux"`
		if d := decideRunning(in); len(d.Do) > 0 || !strings.Contains(d.Message, c.Contested) {
			t.Fatalf("%s: %v %q", kind, d.Do, d.Message)
		}
		c.Contested, c.Edited = "", `.spec is set by "kubectl-edit"`
		isApplied(t, in, *c)
	}
}

// A pod that lost its labels is told to whom can give them back, and nothing is done that its server could contradict.
func TestAPodWithoutLabelsIsNotTakenForGone(t *testing.T) {
	in := standsAs(Even(3, 1), Even(3, 1))
	n := &in.World.Nodes[0]
	*n = topology.Node{Pod: topology.Pod{Name: n.Name, Shard: n.Shard, Ordinal: n.Ordinal, Stray: true}}
	in.Obj.Status.Phase = Degraded
	d := decideDegraded(in)
	if !strings.Contains(d.Message, "give it back its labels valkey.statecraft.dev/cluster and valkey.statecraft.dev/shard") {
		t.Errorf("%q", d.Message)
	}
	for _, m := range in.World.Nodes[1:] { // its replica lost it, and the others gave it up
		for i := range m.Server.View {
			if p := &m.Server.View[i]; p.ID == "id of "+n.Name {
				p.State, p.Linked = topology.Failed, false
			}
		}
		m.Server.Synced = m.Server.Self().Follows != "id of "+n.Name
	}
	if d, heals := heal(in); heals {
		t.Errorf("it is taken for gone: %v", d.Do)
	}
	n.Stray = false
	if d, heals := heal(in); !heals || !slices.ContainsFunc(d.Do, func(e fsm.Effect) bool { _, is := e.(Failover); return is }) {
		t.Errorf("from one that is gone nobody takes over: %v", d.Do)
	}
}
