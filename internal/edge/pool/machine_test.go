package pool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

type bench = fsmtest.Bench[*edgev1.EdgePool, World]

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())

func newBench() bench {
	return bench{
		Machine: &Machine, Object: newPool, World: unasked, Perform: Perform, Settle: Settle,
		Gone: func(w World) bool { return w.Gone },
		Any:  anyPool, End: string(Serving), Safe: safe,
	}
}

// newPool is a pool as a user posts it, but for its finalizer, which only the API server could add.
func newPool() *edgev1.EdgePool {
	return &edgev1.EdgePool{
		ObjectMeta: metav1.ObjectMeta{Name: "north", UID: "n1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt, Finalizers: []string{edgev1.PoolFinalizer}},
		Spec:       edgev1.EdgePoolSpec{Server: edgev1.FlightControl{URL: "https://flightctl.example.com", CredentialsSecret: "north"}, Devices: edgev1.DeviceSelection{MatchLabels: map[string]edgev1.LabelValue{"site": "north"}}, Limit: 10},
	}
}

// unasked is a World in which Flight Control was not asked yet.
func unasked() World { return World{Looked: true} }

// serving is a World in which all was read, and all is well.
func serving() World {
	return World{Looked: true, Access: Access{State: Answered}, Survey: Survey{Complete: true, Devices: 2, Connected: 2}, Nodes: 2, Pods: Pods{Listed: true, Count: 1, Some: []string{"shop/web-0"}}, Entries: 2}
}

func draining() *edgev1.EdgePool {
	p := newPool()
	p.DeletionTimestamp = &createdAt
	return p
}

// safe: nothing is removed unless both sides were read completely, twice, and a person has seen what is much; and the pool goes
// only if nothing of it is left.
func safe(in input, s fsm.Step[*edgev1.EdgePool]) error {
	w := in.World
	for _, e := range s.Decision.Do {
		switch e := e.(type) {
		case RemoveEntries:
			if err := safeRemoval(in, e); err != nil {
				return err
			}
			if n := len(w.Orphans); n > 3 && n*10 > w.Entries && in.Obj.Annotations[edgev1.ConsentAnnotation] != fmt.Sprint(n) {
				return errors.New("removes too much without a person")
			}
		case NudgeDevice, RemoveMark:
			if !w.surveyed() {
				return fmt.Errorf("does %s without having read everything", e)
			}
		case Finish:
			if !w.surveyed() || w.Nodes+w.Pods.Count+w.Entries+len(w.Marked) > 0 || in.Obj.DeletionTimestamp == nil || e.Evidence() == "" {
				return errors.New("goes while something of it is left")
			}
		}
	}
	was, is := in.Obj.Status.Phase, s.Obj.Status.Phase
	switch {
	case is == Serving && was != Serving && (!w.surveyed() || w.Survey.Devices > limit(in)):
		return errors.New("serves what it has not read")
	case is == Draining && in.Obj.DeletionTimestamp == nil && was != Draining:
		return errors.New("drains a pool that is not to go")
	case is == Blind && was == Serving && w.Access.State != Unreachable:
		return errors.New("is blind although Flight Control answers")
	}
	return nil
}

func safeRemoval(in input, e RemoveEntries) error {
	for _, name := range e.Names {
		i := slices.IndexFunc(in.World.Orphans, func(o Orphan) bool { return o.Device == e.Device && o.Name == name })
		switch {
		case !in.World.surveyed() || i < 0:
			return errors.New("removes what may have a pod")
		case in.World.Orphans[i].Looks < 2 || in.Now.Unix()-in.World.Orphans[i].Since < 30:
			return errors.New("removes what was looked at once")
		}
	}
	return nil
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

// anyPool is a pool in some state in which something may have happened.
func anyPool(r *rand.Rand, phase fsm.Phase) (*edgev1.EdgePool, World) {
	p, w := newPool(), pick(r, unasked, serving, serving, serving)()
	if phase == Draining || r.IntN(12) == 0 {
		p.DeletionTimestamp = &createdAt
	}
	if r.IntN(8) == 0 {
		p.Finalizers = nil
	}
	if r.IntN(6) == 0 {
		p.Annotations = map[string]string{edgev1.ConsentAnnotation: pick(r, "4", "5", "")}
	}
	for range r.IntN(4) {
		happen(r, &w)
	}
	w.Looked = r.IntN(12) > 0
	return p, w
}

// happen lets one thing happen to a World.
func happen(r *rand.Rand, w *World) {
	now := createdAt.Unix() + int64(r.IntN(100_000))
	switch r.IntN(12) {
	case 0:
		w.Access = Access{State: pick(r, "", Denied, Unreachable), Words: "It says: no.", Since: pick(r, 0, now)}
	case 1:
		w.Survey.Complete = false
	case 2:
		w.Pods.Listed = false
	case 3:
		w.Pods = Pods{Listed: true}
	case 4:
		w.Nodes = 0
	case 5:
		w.Survey.Devices = 11
	case 6, 10, 11:
		for range 1 + r.IntN(4) {
			name := fmt.Sprintf("sc-0a1b2c3d-%d", len(w.Orphans))
			w.Orphans = append(w.Orphans, Orphan{Device: pick(r, "pump", "valve"), Name: name, Looks: 1 + r.IntN(3), Since: pick(r, 0, now)})
		}
		w.Entries += pick(r, 3, 3, 40)
	case 7:
		w.Unasked = []string{"pump"}
	case 8:
		w.Entries, w.Orphans, w.Marked = 0, nil, pick(r, nil, []string{"pump"})
	case 9:
		w.Problems = append(w.Problems, Problem{Device: "pump", Why: pick(r, node.NameTaken, node.TakenByPool, node.NameTooLong)})
	}
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

// TestDrainingPath drills a pool that is deleted while it serves.
func TestDrainingPath(t *testing.T) {
	b := newBench()
	b.Object, b.End = draining, "gone"
	b.World = func() World {
		w := serving()
		w.Entries, w.Orphans = 1, []Orphan{{Device: "pump", Name: "sc-0a1b2c3d-p9", Looks: 2}}
		w.Marked = []string{"valve"}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestOrphanPath drills a pool whose devices have what no pod has, and run what nothing asks for.
func TestOrphanPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := serving()
		w.Entries, w.Orphans = 4, []Orphan{{Device: "pump", Name: "sc-0a1b2c3d-p8", Looks: 2}, {Device: "valve", Name: "sc-0a1b2c3d-p9", Looks: 2}}
		w.Unasked = []string{"pump"}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestBlindPath drills a pool whose Flight Control comes back.
func TestBlindPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := serving()
		w.Access = Access{State: Unreachable, Words: "connection refused."}
		return w
	}
	b.Settle = func(p *edgev1.EdgePool, w World) World {
		if p.Status.Phase == Blind && w.Access.State == Unreachable {
			w.Access, w.Survey, w.Pods.Listed = Access{State: Answered}, Survey{}, false
			return w
		}
		return Settle(p, w)
	}
	fsmtest.Drill(t, b)
}

// Orphans of an API server that was restored from a backup are held.
func TestWhatIsHeld(t *testing.T) {
	for what, c := range map[string]struct {
		orphans, entries int
		consent          string
		held             bool
	}{
		"three of three":                   {3, 3, "", false},
		"four of forty":                    {4, 40, "", false},
		"four of thirty-nine":              {4, 39, "", true},
		"all":                              {200, 200, "", true},
		"a person has seen them":           {200, 200, "200", false},
		"a person has seen fewer":          {200, 200, "199", true},
		"a person has said something else": {200, 200, "yes", true},
		"nothing":                          {0, 0, "", false},
	} {
		p, w := newPool(), serving()
		p.Annotations = map[string]string{edgev1.ConsentAnnotation: c.consent}
		w.Entries, w.Orphans = c.entries, slices.Repeat([]Orphan{{Device: "pump", Name: "x", Looks: 2}}, c.orphans)
		in := input{Obj: p, World: w, Now: createdAt.Time}
		if held(in) != c.held {
			t.Errorf("%s: held %t", what, !c.held)
		}
		if _, removes := removeOrphans(in); removes != (!c.held && c.orphans > 0) {
			t.Errorf("%s: removes %t", what, removes)
		}
	}
}

func TestTheStatusOfAPool(t *testing.T) {
	p, w := newPool(), serving()
	p.Status.Phase = Serving
	for range 40 {
		w.Problems = append(w.Problems, Problem{"pump", node.NameTaken})
	}
	in := input{Obj: p, World: w, Now: createdAt.Time}
	s, err := Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	out := Machine.Reduce(in, s, nil).Obj.Status
	if out.Devices != 2 || out.Connected != 2 || out.Nodes != 2 || len(out.Problems) != 32 || out.Problems[0].Reason != "NameTaken" {
		t.Errorf("%+v", out)
	}
	in.World.Survey, in.World.Problems = Survey{}, nil
	if out = Machine.Reduce(in, s, nil).Obj.Status; out.Devices != 0 && out.Connected != 2 {
		t.Errorf("figures of no survey: %+v", out)
	}
}
