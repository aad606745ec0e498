package class

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// observing are the phases in which recommendations are computed. In any other they stay what they were.
var observing = []fsm.Phase{Progressing, Available}

// noteRecommendations keeps what is recommended. Samples that say the same are not worth a write: so the time that is
// kept is that of the samples by which the words last changed.
func noteRecommendations(out *runtimev1.ClassRuntime, in input) {
	var all []runtimev1.Recommendation
	for _, f := range in.World.Functions {
		was, had := recommendationOf(in.Obj, f.Key)
		switch {
		case f.Measured != nil && f.isMeasured() && slices.Contains(observing, out.Status.Phase):
			all = append(all, was.next(f.Key, recommend(f, spec.StaleAfter(in.Obj), in.Now), in.Obj.Generation))
		case had:
			all = append(all, was.outdated(spec.StaleAfter(in.Obj), in.Now, f.Measured != nil))
		}
	}
	out.Status.NFRRecommendations = all
	noteObserved(out, in)
}

// kept is a recommendation as a status keeps it.
type kept runtimev1.Recommendation

func recommendationOf(c *runtimev1.ClassRuntime, key string) (was kept, had bool) {
	i := slices.IndexFunc(c.Status.NFRRecommendations, func(r runtimev1.Recommendation) bool {
		return r.Function == key && r.Dimension == runtimev1.DimensionReplicas
	})
	if i < 0 {
		return was, false
	}
	return kept(c.Status.NFRRecommendations[i]), true
}

// next is what becomes of it by what is known now. What cannot be computed anew stays, and is stale.
func (was kept) next(key string, r recommended, generation int64) runtimev1.Recommendation {
	if r.Recommendation == nil {
		is := runtimev1.Recommendation(was)
		is.Function, is.Dimension, is.Stale, is.Reason, is.Message = key, runtimev1.DimensionReplicas, was.Value != nil, r.reason, fsm.Cut(r.words)
		if r.reason == ReasonNotMeasured { // the manager has only begun: what it knew before is as good as it was
			is.Stale = was.Stale
			if was.Value != nil {
				is.Reason, is.Message = was.Reason, was.Message
			}
		}
		return is
	}
	is := runtimev1.Recommendation{
		Function: key, Dimension: runtimev1.DimensionReplicas, Value: &r.Replicas, Basis: string(r.Basis), ConfidencePercent: r.Confidence,
		Generation: generation, Reason: r.reason, Message: fsm.Cut(r.words),
	}
	if !r.sampledAt.IsZero() {
		at := metav1.NewTime(r.sampledAt.Truncate(time.Second))
		is.SampledAt = &at
	}
	if was.says(is) {
		return runtimev1.Recommendation(was)
	}
	return is
}

// says that another recommendation is the same, but for its samples and how much they are worth. The words of a latency
// have a figure in them, which is that of the time they were written.
func (was kept) says(is runtimev1.Recommendation) bool {
	return was.Value != nil && *was.Value == *is.Value && was.Basis == is.Basis && was.Generation == is.Generation && !was.Stale && was.Reason == is.Reason &&
		(was.SampledAt == nil) == (is.SampledAt == nil)
}

// outdated is one that is not computed at the moment: it is as good as the samples of its time.
func (was kept) outdated(staleAfter time.Duration, now time.Time, observed bool) runtimev1.Recommendation {
	is := runtimev1.Recommendation(was)
	if is.Value == nil || is.Stale || is.SampledAt == nil || observed && now.Sub(is.SampledAt.Time) <= staleAfter {
		return is
	}
	is.Stale, is.Reason = true, ReasonSamplesStale
	is.Message = fmt.Sprintf("Nothing is computed while the class is not available; the samples are of %s.", is.SampledAt.UTC().Format(time.RFC3339))
	return is
}

// noteObserved tells whether it is known what functions need. There is no such condition where nothing is to be observed.
func noteObserved(out *runtimev1.ClassRuntime, in input) {
	if spec.ModeOf(in.Obj) == runtimev1.ModeOff {
		apimeta.RemoveStatusCondition(&out.Status.Conditions, runtimev1.NfrObserved)
		return
	}
	c := observed(out, in.World)
	c.ObservedGeneration, c.LastTransitionTime = out.Generation, metav1.NewTime(in.Now.Truncate(time.Second))
	apimeta.SetStatusCondition(&out.Status.Conditions, c)
}

func observed(out *runtimev1.ClassRuntime, w World) metav1.Condition {
	c := metav1.Condition{Type: runtimev1.NfrObserved, Status: metav1.ConditionTrue, Reason: string(ReasonObserved), Message: "It is known how many replicas every function needs."}
	some := false
	for _, f := range w.Functions {
		r, had := recommendationOf(out, f.Key)
		some = some || had
		if had && (r.Stale || r.Value == nil) || !had && f.isMeasured() {
			return metav1.Condition{
				Type: c.Type, Status: metav1.ConditionFalse, Reason: string(cmp.Or(r.Reason, ReasonNotMeasured)), Message: cmp.Or(r.Message, notMeasured),
			}
		}
	}
	if !some {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(ReasonNotMeasured), notMeasured
	}
	return c
}

const notMeasured = "Nothing was measured yet."

// untilStale is when samples will be too old, by the clock alone; 0 is never.
func untilStale(in input) (soonest time.Duration) {
	for _, f := range in.World.Functions {
		if !f.isMeasured() || f.Measured.Problem != "" || !f.Measured.Facts.Known() {
			continue
		}
		if left := f.Measured.Facts.SampledAt.Add(spec.StaleAfter(in.Obj)).Sub(in.Now) + time.Second; left > 0 {
			soonest = earlier(soonest, left)
		}
	}
	return soonest
}
