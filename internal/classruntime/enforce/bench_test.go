package enforce

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// class is the least object that has lanes: what a kind needs to use Rules.
type class struct {
	metav1.ObjectMeta
	meta.Progress
	Lanes map[string]*saved `json:"lanes,omitempty"`
}

// saved is a lane as a status keeps it.
type saved struct {
	meta.Place
	Target, Low, High          int32
	Applied, Previous          int32
	Clamped                    Clamp
	Direction                  Direction
	DirectionSince, LastChange metav1.Time
}

func (s *saved) lane() Lane {
	return Lane{
		Target: s.Target, Low: s.Low, High: s.High, Applied: s.Applied, Previous: s.Previous, Clamped: s.Clamped,
		Direction: s.Direction, Since: s.DirectionSince.Time, AppliedAt: s.LastChange.Time,
	}
}

func (s *saved) keep(l Lane) {
	*s = saved{
		Place: s.Place, Target: l.Target, Low: l.Low, High: l.High, Applied: l.Applied, Previous: l.Previous, Clamped: l.Clamped,
		Direction: l.Direction, DirectionSince: metav1.NewTime(l.Since), LastChange: metav1.NewTime(l.AppliedAt),
	}
}

func (c *class) DeepCopy() *class {
	out := &class{ObjectMeta: *c.ObjectMeta.DeepCopy(), Progress: *c.Progress.DeepCopy(), Lanes: maps.Clone(c.Lanes)}
	for key, l := range out.Lanes {
		one := *l
		one.Place = *l.Place.DeepCopy()
		out.Lanes[key] = &one
	}
	return out
}

func (c *class) GetProgress() *meta.Progress { return &c.Progress }

// function is what is seen of one.
type function struct {
	Recommended int32
	Confidence  int32
	Age         int32 // of its samples, in seconds
	Applied     int32
	Doubt       string
	Taken       string
	Retaken     bool
}

type world map[string]function

// set writes the number of replicas of a function.
type set struct {
	function string
	to       int32
}

func (s set) String() string { return fmt.Sprintf("set %s to %d replicas", s.function, s.to) }

type laneInput = fsm.LaneInput[*class, world]

func ask(i laneInput) Input { return inputOf(i.Input, i.Lane, i.Place) }

func inputOf(i fsm.Input[*class, world], key string, place meta.Place) Input {
	in := Input{Settings: settings(), Phase: place.Phase, Entered: place.Since.Time, Now: i.Now, Current: true}
	if key == "slow" { // so slow that generated worlds often meet it between two changes
		in.Down.Cooldown = 8 * time.Hour
	}
	if l := i.Obj.Lanes[key]; l != nil {
		in.Lane = l.lane()
	}
	if f, seen := i.World[key]; seen {
		in.Applied, in.Taken, in.Retaken = &f.Applied, f.Taken, f.Retaken
		in.Recommended = &capacity.Recommendation{Replicas: f.Recommended, Confidence: f.Confidence, Measured: true}
		in.Evidence = Evidence{i.Now.Add(-time.Duration(f.Age) * time.Second), f.Doubt, f.Doubt}
	}
	return in
}

// machine only has lanes.
var machine = fsm.Machine[*class, world]{
	Kind:  "Class",
	Wakes: []fsm.Wake{{Name: "telemetry", By: fsm.BySampler}},
	Rules: fsm.Rules[fsm.Input[*class, world]]{
		Start: "available",
		Phases: map[fsm.Phase]fsm.Rule[fsm.Input[*class, world]]{
			"available": {Doc: "It runs.", Class: fsm.Steady, Decide: func(fsm.Input[*class, world]) fsm.Decision {
				return fsm.Wait("FunctionsReady", "telemetry").Because("Every function is ready.")
			}},
		},
	},
	Lanes: &fsm.Lanes[*class, world]{
		Rules: Rules(ask, func(i laneInput, to int32) fsm.Effect { return set{i.Lane, to} }, "telemetry"),
		In:    []fsm.Phase{"available"},
		Want:  func(i fsm.Input[*class, world]) []string { return slices.Sorted(maps.Keys(i.World)) },
		At: func(c *class, key string) *meta.Place {
			if c.Lanes == nil {
				c.Lanes = map[string]*saved{}
			}
			if c.Lanes[key] == nil {
				c.Lanes[key] = &saved{}
			}
			return &c.Lanes[key].Place
		},
	},
	Report: report,
}

// report keeps what lanes remember.
func report(out *class, in fsm.Input[*class, world], p fsm.Pass) {
	for key, l := range out.Lanes {
		next := inputOf(in, key, l.Place).Next()
		for _, o := range p.Outcomes {
			if e := o.Effect.(set); e.function == key && o.Err == nil {
				next = next.Took(e.to, in.World[key].Applied, in.Now)
			}
		}
		if next != l.lane() {
			l.keep(next)
		}
	}
}

func perform(w world, e fsm.Effect) world {
	w = maps.Clone(w)
	f := w[e.(set).function]
	f.Applied, f.Retaken = e.(set).to, false
	w[e.(set).function] = f
	return w
}

func newClass() *class {
	return &class{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "c1", ResourceVersion: "7", Generation: 1}}
}

// loadedWorld is one in which a function needs more replicas, and another needs fewer.
func loadedWorld() world {
	return world{"add": {Recommended: 8, Confidence: 90, Applied: 3}, "total": {Recommended: 4, Confidence: 90, Applied: 5}}
}

func anyClass(r *rand.Rand, _ fsm.Phase) (*class, world) {
	c, w := newClass(), world{}
	c.Lanes = map[string]*saved{}
	pick := func(values ...int32) int32 { return values[r.IntN(len(values))] }
	words := func(values ...string) string { return values[r.IntN(len(values))] }
	some := func() metav1.Time {
		if r.IntN(4) == 0 {
			return metav1.Time{}
		}
		return metav1.NewTime(time.Unix(1_700_000_000+r.Int64N(100_000), 0))
	}
	for _, key := range []string{"slow", "add"}[:1+r.IntN(2)] {
		w[key] = function{
			Recommended: pick(0, 1, 3, 8, 40), Confidence: pick(20, 90, 90), Age: pick(10, 10, 500), Applied: pick(2, 3, 8, 20, 25),
			Doubt: words("", "", "A pod is not scraped."), Taken: words("", "", "kubectl"), Retaken: r.IntN(3) == 0,
		}
		l := &saved{
			Place: meta.Place{Phase: []fsm.Phase{Steady, Rising, Falling, Cooling, Yielded}[r.IntN(5)]}, Target: pick(2, 8), Applied: pick(0, 3), Previous: pick(0, 3),
			Direction: []Direction{None, Up, Down}[r.IntN(3)], DirectionSince: some(), LastChange: some(),
		}
		l.Low, l.High = l.Target, l.Target+pick(0, 3)
		c.Lanes[key] = l
	}
	return c, w
}

// safe: what is written goes towards what is recommended, by no more than a step, within the limits, and by evidence that allows it.
func safe(in fsm.Input[*class, world], s fsm.Step[*class]) error {
	for _, e := range s.Decision.Do {
		to, f := e.(set).to, in.World[e.(set).function]
		limits, toward := settings(), f.Recommended
		toward = min(max(toward, limits.Min), limits.Max)
		up := to > f.Applied
		switch {
		case to == f.Applied, up && to > toward, !up && to < toward:
			return fmt.Errorf("%s, which leads from %d away from %d", e, f.Applied, toward)
		case up && to > 2*f.Applied, !up && to < f.Applied-max(1, f.Applied*3/10):
			return fmt.Errorf("%s is more than a step from %d", e, f.Applied)
		case f.Doubt != "", f.Age > 180, f.Confidence < limits.MinConfidence, f.Taken != "" && !f.Retaken:
			return fmt.Errorf("%s without evidence, or over another owner: %+v", e, f)
		}
	}
	return nil
}

func bench() fsmtest.Bench[*class, world] {
	return fsmtest.Bench[*class, world]{
		Machine: &machine, Object: newClass, World: loadedWorld, Perform: perform, Any: anyClass, End: "available", Safe: safe,
	}
}

// Lanes of the kernel can use what is decided here: every check that a machine must pass.
func TestLanes(t *testing.T) { fsmtest.Try(t, bench()) }

func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, bench()) }
