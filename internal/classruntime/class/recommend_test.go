package class

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

var moment = time.Unix(1_700_000_000, 0)

// loaded is a function with three replicas, each of which carries ten requests a second, and this many requests.
func loaded(rps float64) Function {
	f := standing().Functions[0]
	f.Floor, f.Rollout.Desired = 2, 3
	f.Measured = &Measured{
		PerReplica: 10,
		Facts: load.Facts{
			Traffic: load.Measured, RPS: rps, PeakRPS: rps, Pods: 3, Coverage: 1, LeastCoverage: 1, SampledAt: moment.Add(-10 * time.Second),
			Window: 2 * time.Minute, Interval: 15 * time.Second, Latency: 20 * time.Millisecond,
		},
	}
	return f
}

// measuredClass is available, and has one function.
func measuredClass() *runtimev1.ClassRuntime {
	c := newClass()
	c.Generation = 3
	c.Spec.Functions = c.Spec.Functions[:1]
	c.Spec.Telemetry = &runtimev1.Telemetry{Source: "main"}
	c.Status.Phase = Available
	return c
}

func on(f Function) World { return World{Looked: true, Functions: []Function{f}} }

func TestWhatIsRecommended(t *testing.T) {
	minus := func(d time.Duration) func(*Function) {
		return func(f *Function) { f.Measured.Facts.SampledAt = moment.Add(-d) }
	}
	for what, tc := range map[string]struct {
		rps    float64
		but    func(*Function)
		want   int32 // 0 is none
		basis  capacity.Basis
		reason fsm.Reason
	}{
		"a load that the replicas carry":                          {18, nil, 3, capacity.Throughput, ""},
		"a load that is too much":                                 {60, nil, 10, capacity.Throughput, ""},
		"a load that fewer carry":                                 {5, nil, 1, capacity.Throughput, ""},
		"nobody declared what one carries":                        {60, func(f *Function) { f.Measured.PerReplica = 0 }, 3, capacity.Throughput, ReasonCapacityUnknown},
		"a latency that does not come from load":                  {6, func(f *Function) { f.Measured.MaxLatency = time.Millisecond }, 3, capacity.Throughput, ReasonLatencyElsewhere},
		"no requests, or another series":                          {0, func(f *Function) { f.Measured.Facts.Traffic = load.Silent }, 1, capacity.Throughput, ReasonNoRequests},
		"samples are too old":                                     {60, minus(200 * time.Second), 0, "", ReasonSamplesStale},
		"samples are nearly too old":                              {60, minus(179 * time.Second), 10, capacity.Throughput, ""},
		"no pod is scraped":                                       {60, func(f *Function) { f.Measured.Facts = load.Facts{} }, 0, "", ReasonNotScraped},
		"the source does not answer":                              {60, func(f *Function) { f.Measured.Problem = ReasonSourceUnavailable }, 0, "", ReasonSourceUnavailable},
		"requirements are known whatever is measured":             {60, func(f *Function) { f.Measured.MinRPS, f.Measured.Problem = 70, ReasonSourceUnavailable }, 10, capacity.Requirement, ""},
		"fewer are required than there are, and no more is known": {60, func(f *Function) { f.Measured.MinRPS, f.Measured.Problem = 7, ReasonSourceUnavailable }, 0, "", ReasonSourceUnavailable},
		"an autoscaler governs: its floor, whatever the load": {60, func(f *Function) {
			f.Measured.MinRPS, f.Engines = 14, []Engine{{Name: "HorizontalPodAutoscaler cart-add", Ours: true, Min: 2}}
		}, 2, capacity.Requirement, ""},
	} {
		f := loaded(tc.rps)
		if tc.but != nil {
			tc.but(&f)
		}
		r := recommend(f, 180*time.Second, moment)
		got, basis := int32(0), capacity.Basis("")
		if r.Recommendation != nil {
			got, basis = r.Replicas, r.Basis
		}
		if got != tc.want || basis != tc.basis || r.reason != tc.reason {
			t.Errorf("%s: %d by %s, %s %s; want %d by %s, %s", what, got, basis, r.reason, r.words, tc.want, tc.basis, tc.reason)
		}
	}
}

// told is what the status has after a pass.
func told(c *runtimev1.ClassRuntime, w World, now time.Time) *runtimev1.ClassRuntime {
	out := c.DeepCopy()
	noteRecommendations(out, input{Obj: c, World: w, Now: now})
	return out
}

func TestRecommendationsAreKept(t *testing.T) {
	first := told(measuredClass(), on(loaded(60)), moment)
	want := []runtimev1.Recommendation{{
		Function: "add", Dimension: runtimev1.DimensionReplicas, Value: ptr.To(int32(10)), Basis: "Throughput", ConfidencePercent: 100,
		SampledAt: &metav1.Time{Time: moment.Add(-10 * time.Second)}, Generation: 3,
	}}
	if diff := cmp.Diff(want, first.Status.NFRRecommendations); diff != "" {
		t.Fatal(diff)
	}
	down := loaded(60)
	down.Measured.Problem, down.Measured.Words = ReasonSourceUnavailable, "Source main does not answer, so nothing newer is known."
	begun := loaded(60)
	begun.Measured.Problem = ReasonNotMeasured
	later := loaded(60)
	later.Measured.Facts.SampledAt = moment.Add(time.Hour)
	other := loaded(90)
	for what, tc := range map[string]struct {
		f       Function
		now     time.Time
		but     func(*runtimev1.ClassRuntime)
		value   int32
		changed bool
		stale   bool
		reason  fsm.Reason
	}{
		"newer samples of the same are not worth a write": {f: later, now: moment.Add(time.Hour), value: 10},
		"another load is": {f: other, now: moment, value: 14, changed: true},
		"what cannot be measured stays, and is stale":    {f: down, now: moment.Add(time.Minute), value: 10, changed: true, stale: true, reason: ReasonSourceUnavailable},
		"a manager that has only begun forgets nothing":  {f: begun, now: moment, value: 10},
		"an edit of the spec is measured anew":           {f: later, now: moment.Add(time.Hour), but: func(c *runtimev1.ClassRuntime) { c.Generation = 4 }, value: 10, changed: true},
		"a class that is not available computes nothing": {f: other, now: moment, but: func(c *runtimev1.ClassRuntime) { c.Status.Phase = Degraded }, value: 10},
		"and what it has is stale some day": {
			f: other, now: moment.Add(time.Hour), but: func(c *runtimev1.ClassRuntime) { c.Status.Phase = Degraded }, value: 10, changed: true, stale: true, reason: ReasonSamplesStale,
		},
	} {
		c := first.DeepCopy()
		if tc.but != nil {
			tc.but(c)
		}
		is := told(c, on(tc.f), tc.now).Status.NFRRecommendations
		if len(is) != 1 || *is[0].Value != tc.value || is[0].Stale != tc.stale || is[0].Reason != tc.reason {
			t.Errorf("%s: %+v", what, is)
		}
		if changed := !cmp.Equal(is, first.Status.NFRRecommendations); changed != tc.changed {
			t.Errorf("%s: changed %v", what, changed)
		}
	}
	if gone := told(first, World{Looked: true}, moment); len(gone.Status.NFRRecommendations) > 0 {
		t.Error("a recommendation of a function that is gone stays")
	}
}

func TestTheConditionTellsWhatIsKnown(t *testing.T) {
	down := loaded(60)
	down.Measured.Problem, down.Measured.Words = ReasonSourceUnavailable, "Source main does not answer."
	none := loaded(60)
	none.Floor = 0
	for what, tc := range map[string]struct {
		c      *runtimev1.ClassRuntime
		f      Function
		status metav1.ConditionStatus
		reason fsm.Reason
	}{
		"a number is known":                   {measuredClass(), loaded(60), metav1.ConditionTrue, ReasonObserved},
		"the source has never answered":       {measuredClass(), down, metav1.ConditionFalse, ReasonSourceUnavailable},
		"the source does not answer any more": {told(measuredClass(), on(loaded(60)), moment), down, metav1.ConditionFalse, ReasonSourceUnavailable},
		"nothing runs":                        {measuredClass(), none, metav1.ConditionFalse, ReasonNotMeasured},
	} {
		c := apimeta.FindStatusCondition(told(tc.c, on(tc.f), moment).Status.Conditions, runtimev1.NfrObserved)
		if c == nil || c.Status != tc.status || c.Reason != string(tc.reason) || c.Message == "" {
			t.Errorf("%s: %+v", what, c)
		}
	}
	off := told(measuredClass(), on(loaded(60)), moment)
	off.Spec.Enforcement = &runtimev1.Enforcement{Mode: runtimev1.ModeOff}
	unmeasured := loaded(60)
	unmeasured.Measured = nil
	is := told(off, on(unmeasured), moment)
	if apimeta.FindStatusCondition(is.Status.Conditions, runtimev1.NfrObserved) != nil {
		t.Error("nothing is to be observed, and the condition stays")
	}
	if r := is.Status.NFRRecommendations; len(r) != 1 || !r[0].Stale {
		t.Errorf("what nobody computes any more is not stale: %+v", r)
	}
}

// TestItLooksAgain: that samples become too old is seen by the clock alone.
func TestItLooksAgain(t *testing.T) {
	in := input{Obj: measuredClass(), World: on(loaded(60)), Now: moment}
	if got := untilStale(in); got != 171*time.Second {
		t.Errorf("looks again after %s", got)
	}
}
