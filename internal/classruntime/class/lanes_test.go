package class

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// enforcedClass asks for what its functions need to be enforced.
func enforcedClass() *runtimev1.ClassRuntime {
	c := newClass()
	c.Spec.Telemetry = &runtimev1.Telemetry{Source: "main"}
	c.Spec.Enforcement = &runtimev1.Enforcement{Mode: runtimev1.ModeEnforce}
	return c
}

// busy is a World in which the first function needs six replicas instead of two.
func busy() World {
	w := standing()
	for i := range w.Functions {
		f := &w.Functions[i]
		f.Enforced, f.Measured = true, &Measured{PerReplica: 10, Facts: load.Facts{
			Traffic: load.Measured, RPS: 5, PeakRPS: 5, Pods: 1, Coverage: 1, LeastCoverage: 1, SampledAt: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
			Window: 2 * time.Minute, Interval: 15 * time.Second,
		}}
	}
	w.Functions[0].Measured.Facts.RPS, w.Functions[0].Measured.Facts.PeakRPS, w.Functions[0].Measured.Facts.Pods = 36, 36, 6
	return w
}

// A class whose replicas are enforced comes to the same end whatever goes wrong on its way.
func TestEnforced(t *testing.T) {
	b := newBench()
	b.Object, b.World = enforcedClass, busy
	fsmtest.Drill(t, b)
}

// safeToScale: a lane follows what is recommended, within what the spec asks for, by evidence that allows it, and takes the number from no other.
func safeToScale(in input, e Scale) error {
	f, _ := in.World.function(e.Function)
	was, s := *f.Replicas, spec.SettingsOf(in.Obj, f.Floor)
	r := recommend(f, s.StaleAfter, in.Now)
	by, claimed := was.Claimed()
	_, asked := retakeTime(in.Obj)
	switch {
	case spec.ModeOf(in.Obj) != runtimev1.ModeEnforce, was.Engine != "", len(f.Engines) > 0:
		return fmt.Errorf("%s, which is not for a lane to set", e)
	case in.Obj.Status.Phase != Available:
		return fmt.Errorf("%s in phase %s", e, in.Obj.Status.Phase)
	case e.From != was.Live, e.To < f.Floor && e.To < e.From, e.To > s.Max && e.To > f.Floor && e.To > e.From:
		return fmt.Errorf("%s, from %d, beyond the limits %d and %d", e, was.Live, f.Floor, s.Max)
	case r.Recommendation == nil, r.Recommendation != nil && r.Measured && (f.Measured.Problem != "" || in.Now.Sub(f.Measured.Facts.SampledAt) > s.StaleAfter):
		return fmt.Errorf("%s without a recommendation", e)
	case claimed && !e.Retake, e.Retake && !asked:
		return fmt.Errorf("%s, which is of %q", e, by)
	case e.To < e.From && f.Measured.Facts.DoubtOfShrinking(f.scraped(in.Now), in.Now) != "":
		return fmt.Errorf("%s, which the samples do not allow", e)
	case e.To > e.From && r.Measured && f.Measured.Facts.DoubtOfGrowth(f.scraped(in.Now), in.Now) != "":
		return fmt.Errorf("%s, which the samples do not allow", e)
	}
	return nil
}

// enforceSome lets what functions need be enforced, and lanes be somewhere.
func enforceSome(r *rand.Rand, c *runtimev1.ClassRuntime, w *World) {
	c.Spec.Enforcement = &runtimev1.Enforcement{Mode: runtimev1.ModeEnforce, StaleAfterSeconds: 3600}
	slow := &runtimev1.Pace{CooldownSeconds: 8 * 3600} // so slow that generated worlds often meet a lane between two changes
	c.Spec.Enforcement.Up, c.Spec.Enforcement.Down = pick(r, nil, slow), pick(r, nil, slow)
	some := func() *metav1.Time { return pick(r, nil, stampOf(time.Unix(1_700_000_000+r.Int64N(100_000), 0))) }
	for i := range w.Functions {
		f := &w.Functions[i]
		f.Enforced = true
		if r.IntN(4) > 0 { // samples that are new, whatever the time
			f.Measured.Problem, f.Measured.Words = "", ""
			f.Measured.Facts.SampledAt = time.Unix(1_700_200_000, 0)
			f.Measured.PerReplica, f.Measured.Facts.Traffic, f.Measured.Facts.Pods = 10, load.Measured, 9
			f.Measured.Facts.RPS, f.Measured.Facts.PeakRPS = pick(r, 5, 60, 400.0), 0
			f.Measured.Facts.Latency = 0
		}
		if f.has(KindDeployment) && f.Replicas != nil && len(f.Engines) == 0 && r.IntN(2) == 0 {
			n := pick[int32](r, 2, 3, 7, 10)
			f.Replicas = &ownership.Field{Live: n, Want: f.Floor, Asked: &f.Floor, Owners: pick(r, laneOwns, laneOwns, owners[0], owners[1])}
			f.Rollout = Rollout{Seen: true, Desired: n, Total: n, Updated: n, Ready: n, Available: n}
			f.Pods = nil
			for range n {
				f.Pods = append(f.Pods, Pod{Name: "x", Ready: true})
			}
		}
		if r.IntN(8) == 0 {
			continue
		}
		s := runtimev1.EnforcementStatus{
			Function: f.Key, Dimension: runtimev1.DimensionReplicas, Target: pick[int32](r, 2, 8), Applied: pick[int32](r, 0, 3), Previous: pick[int32](r, 0, 3),
			Place:     meta.Place{Phase: pick(r, enforce.Steady, enforce.Rising, enforce.Falling, enforce.Cooling, enforce.Yielded)},
			Direction: string(pick(r, enforce.None, enforce.Up, enforce.Down)), DirectionSince: some(), AppliedAt: some(),
		}
		s.Low, s.High = s.Target, s.Target+pick[int32](r, 0, 3)
		c.Status.Enforcement = append(c.Status.Enforcement, s)
	}
}

var laneOwns = []ownership.Owner{{Manager: child.Manager(ownership.LaneController), Applied: true}}

// TestWhatLanesRemember: the window of a lane that did not look is over, what was not written is not noted, and a lane that is not asked for is forgotten.
func TestWhatLanesRemember(t *testing.T) {
	since, at := metav1.NewTime(now.Add(-time.Hour)), metav1.NewTime(now.Add(-2*time.Hour))
	lane := runtimev1.EnforcementStatus{
		Function: "add", Dimension: runtimev1.DimensionReplicas, Place: meta.Place{Phase: enforce.Rising},
		Target: 6, Direction: string(enforce.Up), DirectionSince: &since, Low: 6, High: 6, Applied: 2, AppliedAt: &at, Previous: 1,
	}
	wrote := fsm.Outcome{Effect: Scale{Function: "add", From: 2, To: 4}}
	failed := wrote
	failed.Err = errors.New("no")
	for what, c := range map[string]struct {
		phase     fsm.Phase
		but       func(*runtimev1.ClassRuntime, *World)
		outcome   *fsm.Outcome
		forgotten bool
		window    bool
		applied   int32
	}{
		"a lane that looks":             {phase: Available, window: true, applied: 2},
		"a lane that writes":            {phase: Available, outcome: &wrote, window: true, applied: 4},
		"a lane that cannot write":      {phase: Available, outcome: &failed, window: true, applied: 2},
		"a class that is not available": {phase: Progressing, applied: 2},
		"a class that is paused":        {phase: Available, but: func(c *runtimev1.ClassRuntime, _ *World) { c.Spec.Paused = true }, applied: 2},
		"nothing is to be enforced":     {phase: Available, but: func(_ *runtimev1.ClassRuntime, w *World) { w.Functions[0].Enforced = false }, forgotten: true},
		"a function that is gone":       {phase: Available, but: func(_ *runtimev1.ClassRuntime, w *World) { w.Functions = w.Functions[1:] }, forgotten: true},
	} {
		obj, w := enforcedClass(), busy()
		obj.Status.Phase, obj.Status.Enforcement = c.phase, []runtimev1.EnforcementStatus{lane}
		if c.but != nil {
			c.but(obj, &w)
		}
		var outcomes []fsm.Outcome
		if c.outcome != nil {
			outcomes = append(outcomes, *c.outcome)
		}
		out := obj.DeepCopy()
		noteLanes(out, input{Obj: obj, World: w, Now: now}, outcomes)
		kept := out.Status.Enforcement
		if len(kept) == 0 != c.forgotten {
			t.Errorf("%s: %+v", what, kept)
		}
		if c.forgotten || len(kept) == 0 {
			continue
		}
		if l := laneOf(out, "add"); (l.Direction == enforce.Up && l.Since.Equal(since.Time)) != c.window || l.Applied != c.applied {
			t.Errorf("%s: %+v", what, l)
		}
	}
}
