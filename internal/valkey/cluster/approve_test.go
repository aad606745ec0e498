package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// safePlan: where a person has to approve the plan, nothing of it is done before.
func safePlan(in input, e fsm.Effect) error {
	c, shapes := in.Obj, false
	switch e := e.(type) {
	case MoveSlots, RemoveShard:
		shapes = true
	case Forget:
		shapes = sendsAway(in, e)
	case ApplyChild:
		shapes = e.Child.Kind == KindStatefulSet && slices.Contains(scaling, c.Status.Phase)
	case MakeUpgrade:
		p, _ := makePlan(in)
		shapes = p != nil
	}
	if !shapes || !c.Spec.ApprovePlan {
		return nil
	}
	p, doubt := makePlan(in)
	if p == nil && doubt == "" || hasBegun(in) || p != nil && c.Annotations[valkeyv1.ApproveAnnotation] == p.Token {
		return nil
	}
	return errors.New("begins what nobody has approved")
}

// anyPlan lets a person have to approve, and have approved this plan or another.
func anyPlan(r *rand.Rand, c *valkeyv1.ValkeyCluster, w World) {
	c.Spec.ApprovePlan = r.IntN(4) == 0
	p, _ := makePlan(input{Obj: c, World: w})
	if p == nil {
		return
	}
	c.Annotations = map[string]string{valkeyv1.ApproveAnnotation: pick(r, "", "0123456789", p.Token)}
	p.Begun = r.IntN(2) == 0
	p.To = pick(r, p.To, p.To, "9x9")
	c.Status.Plan = p
}

// obedient is a bench on which a person approves whatever plan there is before it is begun, and
// is not asked again.
func obedient(b bench) bench {
	object, lost := b.Object, b.Lost
	asks := func(c *valkeyv1.ValkeyCluster) *valkeyv1.ValkeyCluster { c.Spec.ApprovePlan = true; return c }
	b.Object = func() *valkeyv1.ValkeyCluster { return asks(object()) }
	b.Lost = func() *valkeyv1.ValkeyCluster { return asks(lost()) }
	b.Step = func(in input) (fsm.Step[*valkeyv1.ValkeyCluster], error) {
		if p, _ := makePlan(in); p != nil && !slices.Contains(scaling, in.Obj.Status.Phase) {
			in.Obj.Annotations = map[string]string{valkeyv1.ApproveAnnotation: p.Token}
		}
		return Machine.Step(in)
	}
	return b
}

// TestApprovedPlans drills changes of size that a person approves.
func TestApprovedPlans(t *testing.T) {
	for name, c := range map[string]struct{ from, to Shape }{
		"shards are added":                      {Even(3, 0), Even(4, 0)},
		"shards are added and replicas removed": {Even(3, 1), Even(4, 0)},
		"shards are removed":                    {Even(4, 0), Even(3, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsmtest.Drill(t, obedient(rescaled(c.from, c.to)))
		})
	}
}

// TestFaultNobodyIsAsked has no hold at the door.
func TestFaultNobodyIsAsked(t *testing.T) {
	t.Parallel()
	b, m := newBench(), Machine
	m.Holds = m.Holds[:2]
	b.Machine = &m
	fsmtest.Caught(t, b.ExploreIn(RebalancingSlots), "begins what nobody has approved")
}

// standsAs is a cluster that runs in one shape, and whose spec asks for another.
func standsAs(from, to Shape) input {
	c, stages := standingCluster(sized(newCluster(), from))
	w := clone(stages[len(stages)-1].world)
	for _, n := range w.Nodes {
		n.Server.Dataset = 1 << 20
	}
	return input{Obj: sized(c, to), World: w, Now: time.Unix(1_700_000_100, 0)}
}

func TestPlans(t *testing.T) {
	for name, c := range map[string]struct {
		from, to Shape
		edits    bool
		want     string
	}{
		"nothing is to be done":       {Even(3, 1), Even(3, 1), false, ""},
		"only servers are restarted":  {Even(3, 1), Even(3, 1), true, ""},
		"a shard is added":            {Even(3, 1), Even(4, 1), false, "3x1 to 4x1: [grow move-slots], 4096 slots, 767k, 0>3:1366 1>3:1365 2>3:1365"},
		"replicas are added":          {Even(3, 1), Even(3, 2), false, "3x1 to 3x2: [grow], 0 slots, 0k,"},
		"a shard is removed":          {Even(4, 1), Even(3, 1), false, "4x1 to 3x1: [move-slots shrink], 4096 slots, 1024k, 3>0:1366 3>1:1365 3>2:1365"},
		"replicas are removed":        {Even(3, 1), Even(3, 0), false, "3x1 to 3x0: [shrink], 0 slots, 0k,"},
		"all of it together":          {Even(3, 1), Even(4, 0), true, "3x1 to 4x0: [grow move-slots restart shrink], 4096 slots, 767k, 0>3:1366 1>3:1365 2>3:1365"},
		"replicas, with new servers":  {Even(3, 1), Even(3, 0), true, "3x1 to 3x0: [restart shrink], 0 slots, 0k,"},
		"more shards, fewer replicas": {Even(3, 2), Even(4, 1), false, "3x2 to 4x1: [grow move-slots shrink], 4096 slots, 767k, 0>3:1366 1>3:1365 2>3:1365"},
	} {
		t.Run(name, func(t *testing.T) {
			in := standsAs(c.from, c.to)
			if c.edits {
				edit(in.World)
				in.World.Template = "another"
			}
			p, doubt := makePlan(in)
			got := ""
			if p != nil {
				got = fmt.Sprintf("%s to %s: %s, %d slots, %dk,", p.From, p.To, p.Steps, p.Slots, p.Bytes>>10)
				for _, m := range p.Moves {
					got += fmt.Sprintf(" %d>%d:%d", m.From, m.To, m.Slots)
				}
			}
			if doubt != "" || got != c.want {
				t.Errorf("%q, %q\nwant %q", got, doubt, c.want)
			}
		})
	}
}

// edit lets every shard be otherwise than the spec asks for.
func edit(w World) {
	for i := range w.Children {
		w.Children[i].Current = false
	}
}

// Of a combined edit that begins with restarts, these wait for the approval, too.
func TestRestartsOfAPlanAreApproved(t *testing.T) {
	in := standsAs(Even(3, 1), Even(3, 0))
	edit(in.World)
	in.World.Template, in.Obj.Spec.ApprovePlan = "another", true
	if effects, _ := requestUpgrade(in); len(effects) > 0 {
		t.Errorf("%v before the approval", effects)
	}
	if event, _ := scaleEvent(in); event != ReplicaScaleDownDetected {
		t.Errorf("nothing is at the door: %q", event)
	}
	p, _ := makePlan(in)
	in.Obj.Annotations = map[string]string{valkeyv1.ApproveAnnotation: p.Token}
	if effects, _ := requestUpgrade(in); len(effects) != 1 {
		t.Errorf("%v after the approval", effects)
	}
	if event, _ := scaleEvent(in); event != "" {
		t.Errorf("%s before the restarts", event)
	}
}

// A plan is told by all that is in it, and by nothing that moves by itself.
func TestTokensOfPlans(t *testing.T) {
	base := func() input { return standsAs(Even(3, 1), Even(4, 1)) }
	token := func(in input) string {
		p, doubt := makePlan(in)
		if doubt != "" {
			t.Fatal(doubt)
		}
		return p.Token
	}
	want := token(base())
	for name, c := range map[string]struct {
		change func(*input)
		same   bool
	}{
		"nothing changed":          {func(*input) {}, true},
		"there is more in memory":  {func(in *input) { in.World.Nodes[0].Server.Dataset *= 2 }, true},
		"another cluster":          {func(in *input) { in.Obj.UID = "c2" }, false},
		"another size":             {func(in *input) { in.Obj = sized(in.Obj, Even(5, 1)) }, false},
		"another number of copies": {func(in *input) { in.Obj = sized(in.Obj, Even(4, 2)) }, false},
		"another template":         {func(in *input) { in.World.Template = "another" }, false},
		"slots are elsewhere by now": {func(in *input) {
			a, b := in.World.Nodes[0].Server, in.World.Nodes[2].Server
			pa, pb := &a.View[self(a)], &b.View[self(b)]
			pa.Slots, pb.Slots = pb.Slots, pa.Slots
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := base()
			c.change(&in)
			if got := token(in); (got == want) != c.same {
				t.Errorf("%s and %s", got, want)
			}
		})
	}
}

// A person is asked until this very plan is approved, and no more once it was begun.
func TestWhatAPersonIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*input)
		held   bool
	}{
		"nobody approved":                  {func(*input) {}, true},
		"this plan was approved":           {func(in *input) { in.Obj.Annotations = approval(*in) }, false},
		"another was approved":             {func(in *input) { in.Obj.Annotations = map[string]string{valkeyv1.ApproveAnnotation: "0123456789"} }, true},
		"it was begun":                     {func(in *input) { in.Obj.Status.Plan = begunPlan(*in) }, false},
		"it was begun, and more is wanted": {func(in *input) { in.Obj.Status.Plan = begunPlan(*in); in.Obj = sized(in.Obj, Even(5, 1)) }, true},
		"it was begun, and other servers are wanted": {func(in *input) {
			in.Obj.Status.Plan = begunPlan(*in)
			in.World.Template = "another"
		}, true},
		"two claim the same slots": {func(in *input) {
			a, b := in.World.Nodes[0].Server, in.World.Nodes[2].Server
			b.View[self(b)].Slots = a.View[self(a)].Slots
			in.Obj.Annotations = approval(*in)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := standsAs(Even(3, 1), Even(4, 1))
			in.Obj.Spec.ApprovePlan = true
			c.change(&in)
			if words, held := notApproved(in); held != c.held {
				t.Errorf("held %t: %s", held, words)
			}
		})
	}
}

// approval is that of the plan there is, if there is one.
func approval(in input) map[string]string {
	if p, _ := makePlan(in); p != nil {
		return map[string]string{valkeyv1.ApproveAnnotation: p.Token}
	}
	return nil
}

func begunPlan(in input) *valkeyv1.ClusterPlan {
	p, _ := makePlan(in)
	p.Begun = true
	return p
}

// A plan cannot be told while a slot has no owner, and then it cannot be approved either.
func TestNoPlanWithoutOwners(t *testing.T) {
	in := standsAs(Even(3, 1), Even(4, 1))
	in.Obj.Spec.ApprovePlan = true
	in.World.Nodes[0].Server = nil
	words, held := notApproved(in)
	if !held || !strings.Contains(words, "slots have an owner") {
		t.Errorf("%t: %s", held, words)
	}
}

const mostBytes = 96 << 10 // of an object: it may have 1.5 MiB, and is written often

// The largest cluster with the longest names fits with its plan.
func TestTheLargestPlanFits(t *testing.T) {
	in := standsAs(Even(3, 0), Even(250, 0))
	many := World{Shape: Even(249, 5), Formed: true, Template: strings.Repeat("t", 16), Children: in.World.Children}
	for i := range 249 {
		id := fmt.Sprintf("%040d", i)
		slots := topology.Share(i, 249)
		for j := range 6 {
			n := topology.Node{Pod: topology.Pod{Name: strings.Repeat("x", 48) + fmt.Sprintf("-%d-%d", i, j), Shard: i, Ordinal: j}}
			n.Server = &topology.Server{ID: id + fmt.Sprint(j), ShardID: id, Gauges: topology.Gauges{Dataset: 1 << 40}}
			n.Server.View = []topology.Peer{{ID: n.Server.ID, Claim: topology.Claim{Slots: slots}}}
			slots = ""
			many.Nodes = append(many.Nodes, n)
		}
	}
	in.World, in.Obj.Status.Phase = many, Running
	out := in.Obj.DeepCopy()
	notePlan(out, in)
	out.Status.Shards = shards(many)
	if out.Status.Plan == nil || len(out.Status.Plan.Moves) < 60 {
		t.Fatalf("plan %+v", out.Status.Plan)
	}
	for len(out.Status.Plan.Moves) < mostMoves { // as many as the schema allows
		out.Status.Plan.Moves = append(out.Status.Plan.Moves, valkeyv1.PlannedMove{From: 249, To: 248, Slots: 16384, Bytes: 1 << 50})
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > mostBytes {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	t.Logf("%d bytes", len(text))
}

// What is shown does not change with every look.
func TestThePlanIsToldOnce(t *testing.T) {
	in := standsAs(Even(3, 1), Even(4, 1))
	in.Obj.Status.Phase, in.Obj.Status.Since = Running, metav1.Time{Time: in.Now}
	out := in.Obj.DeepCopy()
	notePlan(out, in)
	in.Obj = out
	again := out.DeepCopy()
	in.World.Nodes[0].Server.Dataset *= 3
	notePlan(again, in)
	if diff := cmp.Diff(out.Status.Plan, again.Status.Plan); diff != "" || out.Status.Plan.Begun {
		t.Error(diff)
	}
}
