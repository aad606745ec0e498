package class

import (
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The reasons of enforcement, besides those of its lanes.
const (
	ReasonEnforceFailed fsm.Reason = "EnforceFailed"  // the replicas could not be written, and are tried again
	ReasonEngineGoverns fsm.Reason = "EngineGoverns"  // an autoscaler sets the replicas, and its lower limit is below what is recommended
	ReasonAllEnforced   fsm.Reason = "AllNFREnforced" // every function has the replicas that are recommended
)

// noteEnforcement keeps what lanes remember, and tells whether functions have what they need. It changes nothing about Ready.
func noteEnforcement(out *runtimev1.ClassRuntime, in input, outcomes []fsm.Outcome) {
	noteLanes(out, in, outcomes)
	if spec.ModeOf(in.Obj) != runtimev1.ModeEnforce {
		apimeta.RemoveStatusCondition(&out.Status.Conditions, runtimev1.NfrEnforced)
		return
	}
	v, stands := enforcement(out, in, outcomes)
	if stands {
		return
	}
	c := metav1.Condition{
		Type: runtimev1.NfrEnforced, Status: metav1.ConditionFalse, Reason: string(v.reason), Message: fsm.Cut(v.message),
		ObservedGeneration: out.Generation, LastTransitionTime: metav1.NewTime(in.Now.Truncate(time.Second)),
	}
	if v.reason == "" {
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, string(ReasonAllEnforced), "Every function has the replicas that are recommended."
	}
	apimeta.SetStatusCondition(&out.Status.Conditions, c)
}

// enforcement is why what is recommended is not applied; without a reason all is. While a lane backs off, what was said about its failure stands.
func enforcement(out *runtimev1.ClassRuntime, in input, outcomes []fsm.Outcome) (v verdict, stands bool) {
	if phase := out.Status.Phase; phase != Available {
		return verdict{reason: fsm.Reason(phase), message: fmt.Sprintf("The class is %s; what is applied stays.", phase)}, false
	}
	if words, is := paused(in); is {
		return verdict{reason: ReasonPaused, message: words}, false
	}
	for _, o := range outcomes {
		if e, is := o.Effect.(Scale); is && o.Err != nil {
			v = verdict{reason: ReasonEnforceFailed, message: fmt.Sprintf("Function %s: %s", e.Function, o.Message())}
			if fsm.ClassOf(o.Err) == fsm.Contested {
				v.reason = enforce.ReasonConflict
			}
			return v, false
		}
	}
	for _, f := range in.World.Functions {
		place := meta.Place{}
		if i := laneIndex(out, f.Key); i >= 0 {
			place = out.Status.Enforcement[i].Place
		}
		if at := place.RetryAt; at != nil && in.Now.Before(at.Time) {
			return v, true
		}
		if v := f.unenforced(in, place); v.reason != "" {
			return v, false
		}
	}
	return v, false
}

// unenforced is why a function does not have the replicas that are recommended.
func (f Function) unenforced(in input, place meta.Place) (v verdict) {
	switch {
	case !f.Enforced || !f.isMeasured():
		return v
	case !f.hasLane():
		return f.governedBelow(in)
	}
	d := enforce.Decide(about(in, f.Key, place))
	switch d.Reason {
	case enforce.ReasonEnforced:
		return v
	case enforce.ReasonNoTarget: // the recommendation says why there is none
		if r := recommend(f, spec.StaleAfter(in.Obj), in.Now); r.reason != "" {
			return verdict{reason: r.reason, message: fmt.Sprintf("Function %s keeps the replicas that it has. %s", f.Key, r.words)}
		}
	}
	return verdict{reason: d.Reason, message: fmt.Sprintf("Function %s: %s", f.Key, d.Message)}
}

// governedBelow says that an autoscaler may give a function fewer replicas than are recommended.
func (f Function) governedBelow(in input) (v verdict) {
	e, is := f.governor()
	r := recommend(f, spec.StaleAfter(in.Obj), in.Now)
	if !is || r.Recommendation == nil || r.Replicas <= e.Min {
		return v
	}
	return verdict{reason: ReasonEngineGoverns, message: fmt.Sprintf(
		"%s sets the replicas of function %s, and may go down to %d, where %d are recommended: raise its lower limit.", e.Name, f.Key, e.Min, r.Replicas)}
}
