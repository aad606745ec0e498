package cluster

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

type bench = fsmtest.Bench[*valkeyv1.ValkeyCluster, World]

func newBench() bench {
	return bench{
		Machine: &Machine,
		Object:  newCluster,
		World:   func() World { return nothing(Even(3, 1)) },
		Perform: Perform,
		Settle:  Settle,
		Any:     anyCluster,
		End:     string(Running),
		Large:   true,
		Safe:    safe,
		// How many pairs are left to introduce depends on what gossip did meanwhile.
		Role: func(e fsm.Effect) string {
			if _, meets := e.(Meet); meets {
				return "meet"
			}
			// The budget follows what is seen at each moment.
			if a, applies := e.(ApplyChild); applies && (a.Open || a.Template == Closed) {
				return ""
			}
			return e.String()
		},
	}
}

// newCluster is a cluster as a user posts it.
func newCluster() *valkeyv1.ValkeyCluster {
	return &valkeyv1.ValkeyCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "c1", ResourceVersion: "7", Generation: 1},
		Spec:       valkeyv1.ValkeyClusterSpec{Masters: 3, ReplicasPerMaster: ptr.To(int32(1)), Image: "valkey:8.1"},
	}
}

// nothing is a World in which nothing was made yet.
func nothing(shape Shape) World {
	w := World{Shape: shape, Reservation: reserve.Fact{State: reserve.Free}, Template: "template of the spec"}
	for _, r := range []Ref{{"Service", "web-nodes"}, {"Service", "web"}, {KindConfigMap, "web"}, {"PodDisruptionBudget", "web"}} {
		w.Children = append(w.Children, Child{Ref: r})
	}
	for i, replicas := range shape {
		name := fmt.Sprintf("web-%d", i)
		w.Children = append(w.Children, Child{Ref: Ref{KindStatefulSet, name}, Shard: i})
		for j := range 1 + replicas {
			w.Nodes = append(w.Nodes, topology.Node{Pod: topology.Pod{Name: fmt.Sprintf("%s-%d", name, j), Shard: i, Ordinal: j}})
		}
	}
	return w
}

// stage is where a cluster stood in one pass of a run without faults.
type stage struct {
	phase fsm.Phase
	spec  valkeyv1.ValkeyClusterSpec
	world World
}

// made is how a cluster is made, and stages how it is scaled afterwards, too.
var made = sync.OnceValue(func() []stage {
	_, stages := standingCluster(newCluster())
	return stages
})

var stages = sync.OnceValue(func() []stage {
	c, stages := standingCluster(newCluster())
	for _, next := range []Shape{Even(5, 1), Even(3, 2), Even(3, 1)} {
		resize := sized(c.DeepCopy(), next)
		var more []stage
		c, more = onwards(resize, stages[len(stages)-1].world)
		stages = append(stages, more...)
	}
	return stages
})

func sized(c *valkeyv1.ValkeyCluster, s Shape) *valkeyv1.ValkeyCluster {
	c.Spec.Masters, c.Spec.ReplicasPerMaster = int32(len(s)), ptr.To(int32(s[0]))
	return c
}

// standingCluster is a cluster after a run without faults, and how it got there.
func standingCluster(c *valkeyv1.ValkeyCluster) (_ *valkeyv1.ValkeyCluster, stages []stage) {
	return onwards(c, nothing(Wanted(c)))
}

// onwards is a run without faults from here on.
func onwards(c *valkeyv1.ValkeyCluster, w World) (_ *valkeyv1.ValkeyCluster, stages []stage) {
	now := time.Unix(1_700_000_000, 0)
	for range restPasses {
		if at := (stage{c.Status.Phase, c.Spec, w}); len(stages) == 0 || !reflect.DeepEqual(at, stages[len(stages)-1]) {
			stages = append(stages, at)
		}
		in := input{Obj: c, World: w, Now: now}
		s, err := Machine.Step(in)
		if err != nil {
			panic(err)
		}
		var outcomes []fsm.Outcome
		for _, e := range s.Decision.Do {
			w = Perform(w, e)
			outcomes = append(outcomes, fsm.Outcome{Effect: e})
		}
		c = Machine.Reduce(in, s, outcomes).Obj
		if !s.Moved() {
			w = Settle(c, w)
		}
		now = now.Add(time.Second)
	}
	return c, stages
}

const restPasses = 24 // passes, after which a cluster runs and is at rest

// anyCluster is a cluster at some time of its making, in which something happened.
func anyCluster(r *rand.Rand, phase fsm.Phase) (*valkeyv1.ValkeyCluster, World) {
	of := slices.DeleteFunc(slices.Clone(stages()), func(s stage) bool { return s.phase != phase })
	switch r.IntN(8) {
	case 0:
		of = stages()
	case 1, 2:
		of = made()
	}
	if len(of) == 0 {
		of = stages()
	}
	at := pick(r, of...)
	w, c := clone(at.world), newCluster()
	c.Spec = *at.spec.DeepCopy()
	c.Status.ObservedGeneration = pick(r, int64(1), 1, 1, 0)
	c.Spec.Paused = r.IntN(8) == 0
	c.Spec.OnTotalLoss = pick(r, valkeyv1.FailOnTotalLoss, valkeyv1.RecreateOnTotalLoss)
	if r.IntN(12) == 0 {
		c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	}
	if r.IntN(4) == 0 {
		c = sized(c, Even(3+r.IntN(3), r.IntN(3)))
		wish(c, &w)
		if last := &w.Children[len(w.Children)-1]; r.IntN(2) == 0 && !w.recorded(*last) {
			last.UID, last.Current, last.Settled = "made a moment ago", r.IntN(2) == 0, r.IntN(2) == 0
		}
	}
	if w.Formed && r.IntN(8) == 0 {
		w.Migration = pick(r, Moving, Ended)
	}
	if phase == Failed && r.IntN(2) == 0 {
		c.Status.Conditions = []metav1.Condition{{Type: fsm.Stalled, Status: metav1.ConditionTrue, Reason: pick(r, "Refused", "DataLost"), Message: "No."}}
		c.Status.History = append(c.Status.History, history(Failed), history(Pending), history(Failed))
	}
	w.Reservation = reserve.Fact{State: pick(r, reserve.Ours, reserve.Ours, reserve.Ours, reserve.Ours, reserve.Ours, reserve.Free, reserve.Others, reserve.State(""))}
	w.Formed = w.Formed != (r.IntN(3) == 0)
	if r := rand.New(rand.NewPCG(r.Uint64(), 0)); slices.Contains(scaling, phase) || phase == Running { //nolint:gosec // a stream of its own
		anyPlan(r, c, w)
	}
	if (phase == Running || phase == Degraded) && r.IntN(8) == 0 {
		anyUpgrade(r, &w)
	}
	for range r.IntN(4) {
		mishap(r, &w)
	}
	seed := r.Uint64()
	anyClaims(rand.New(rand.NewPCG(seed, 1)), c, &w)        //nolint:gosec // a stream of its own
	anyOtherOperator(rand.New(rand.NewPCG(seed, 2)), c, &w) //nolint:gosec // a stream of its own
	return c, w
}

// anyClaims gives some clusters volumes, in any state, and those of servers that were removed.
func anyClaims(r *rand.Rand, c *valkeyv1.ValkeyCluster, w *World) {
	if r.IntN(6) > 0 {
		return
	}
	c.Spec.Persistence.Enabled = true
	w.Claims = claimsOf(Even(len(w.Shape)+1, 2))
	for i := range w.Claims {
		claim := &w.Claims[i]
		claim.Released, claim.Leaving, claim.Small = r.IntN(3) == 0, r.IntN(8) == 0, r.IntN(16) == 0
		claim.Used, claim.Resizing = claim.within(w.Shape) || r.IntN(4) == 0, pick(r, "", "", "", "", "Resizing")
	}
}

// mishap changes one thing.
func mishap(r *rand.Rand, w *World) {
	*w = clone(*w)
	child, n := &w.Children[r.IntN(len(w.Children))], &w.Nodes[r.IntN(len(w.Nodes))]
	switch r.IntN(24) {
	case 0:
		*child = Child{Ref: child.Ref, Shard: child.Shard}
	case 1:
		child.Foreign, child.UID = true, "other"
	case 2, 8:
		child = &w.Children[len(w.Children)-1-r.IntN(3)]
		child.Current, child.Template = false, pick(r, child.Template, "of before")
	case 10:
		w.Own = append(w.Own, OwnUpgrade{Name: pick(r, "web-template", "web-before"), UID: "u", Ended: r.IntN(2) == 0})
	case 14:
		if child.UID != "" && !child.Foreign {
			child.Edited, child.Contested = pick(r, ".spec is missing", ""), pick(r, "", `.spec is set by "flux"`)
		}
	case 13:
		if i := slices.IndexFunc(w.Children, func(c Child) bool { return c.Kind == KindDisruptionBudget }); i >= 0 {
			w.Children[i].Template = Closed
		}
	case 12:
		w.Access = pick(r, Access{Missing: true}, Access{Doubt: "Secret web-app does not exist"}, Access{Forbidden: true})
	case 11:
		anyUpgrade(r, w)
	case 3:
		n.Ready = false
	case 4, 9:
		n.Server, n.Trouble = nil, pick(r, podstate.Trouble{}, podstate.Trouble{Reason: podstate.ImagePullBackOff, Words: "Pod web-0-0 has no image."})
		n.UID, n.NeverRan, n.Outdated, n.Ended = "u", r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
		if n.Refused = r.IntN(2) == 0; n.Refused {
			hangUp(r, w, n.Name)
		}
	case 5:
		*n = startedNode(n.Pod, "valkey:8.1")
	case 6:
		for i := range w.Nodes {
			w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
		}
	case 7:
		*w = nothing(w.Shape)
	case 22:
		child.Unlabelled = child.UID != ""
	case 23:
		*n = topology.Node{Pod: topology.Pod{Name: n.Name, Shard: n.Shard, Ordinal: n.Ordinal, Stray: true}}
	default:
		if n.Server != nil {
			quarrel(r, n.Server)
		}
	}
}

// hangUp ends the connections to a server, as a rule all of them.
func hangUp(r *rand.Rand, w *World, name string) {
	for _, by := range w.Nodes {
		if by.Server == nil || r.IntN(10) == 0 {
			continue
		}
		for i := range by.Server.View {
			if p := &by.Server.View[i]; p.ID == "id of "+name {
				p.Linked = false
			}
		}
		if by.Server.Self().Follows == "id of "+name {
			by.Server.Synced = false
		}
	}
}

// quarrel changes what one server says.
func quarrel(r *rand.Rand, s *topology.Server) {
	p := &s.View[r.IntN(len(s.View))]
	if r.IntN(2) == 0 {
		p = &s.View[self(s)]
	}
	switch r.IntN(12) {
	case 8:
		s.Timeout = pick(r, 0, 500, 9000)
	case 0, 7, 9, 10, 11:
		s.Empty = false
	case 1:
		s.OK, s.Synced = r.IntN(2) == 0, r.IntN(2) == 0
	case 2:
		p.State = pick(r, topology.Failed, topology.Suspected, topology.Handshake)
	case 3:
		p.Slots = pick[topology.Slots](r, "", "7", "0-16383")
	case 4:
		p.Follows = pick(r, "", "id of web-0-0", "id of web-2-1")
	case 5:
		s.View = append(s.View, topology.Peer{ID: "zz-stranger", Linked: true})
	case 6:
		p.Linked = false
	}
}

func history(to fsm.Phase) (t meta.Transition) {
	t.To, t.Event, t.Reason = to, "Any", "Any"
	return t
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

// The loss of all data is seen in every phase.
func TestDataLost(t *testing.T) {
	w := clone(made()[len(made())-1].world)
	if !w.Formed {
		t.Fatal("a cluster that runs is not marked")
	}
	for i := range w.Nodes {
		w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
	}
	for _, phase := range alive {
		c := newCluster()
		c.Status.Phase = phase
		s, err := Machine.Step(input{Obj: c, World: w})
		if err != nil || s.Obj.Status.Phase != Failed || s.Decision.Reason != ReasonDataLost {
			t.Errorf("%s: newborn servers of a formed cluster lead to %s, %s: %v", phase, s.Obj.Status.Phase, s.Decision.Reason, err)
		}
	}
}

// TestOtherShapes drills clusters without replicas and with several.
func TestOtherShapes(t *testing.T) {
	for _, shape := range []Shape{Even(3, 0), Even(3, 2)} {
		t.Run(fmt.Sprintf("%d masters with %d replicas", shape.Masters(), shape[0]), func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.World = func() World { return nothing(shape) }
			b.Object = func() *valkeyv1.ValkeyCluster {
				c := newCluster()
				c.Spec.Masters, c.Spec.ReplicasPerMaster = int32(shape.Masters()), ptr.To(int32(shape[0]))
				return c
			}
			fsmtest.Drill(t, b)
		})
	}
}
