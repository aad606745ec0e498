package class

import (
	"fmt"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
)

// retakes says that a person asked, after the replicas of a function were overridden, for those of the spec. A wish without
// a later time than that would overrule every later scale as well, and one from the future would be granted in every pass.
// Times in status are whole seconds, so the wish is, too.
func retakes(in input, key string) bool {
	since := functionStatus(in.Obj, key).Replicas.OverriddenSince
	at, asked := retakeTime(in.Obj)
	return asked && since != nil && at.Truncate(time.Second).After(since.Time) && !at.After(in.Now)
}

// retakes says that a wish is about the number that the function has. One that was set after the wish, and before the class was looked
// at again, is another override.
func (f Function) retakes(in input) bool {
	return f.Replicas != nil && retakes(in, f.Key) && f.Replicas.Live == functionStatus(in.Obj, f.Key).Replicas.Desired
}

func retakeTime(c *runtimev1.ClassRuntime) (at time.Time, asked bool) {
	at, err := time.Parse(time.RFC3339, c.Annotations[runtimev1.RetakeAnnotation])
	return at, err == nil
}

// functionStatus is what is on record of a function; nothing if there is none.
func functionStatus(c *runtimev1.ClassRuntime, key string) runtimev1.FunctionStatus {
	for _, f := range c.Status.Functions {
		if f.Key == key {
			return f
		}
	}
	return runtimev1.FunctionStatus{}
}

// The owners of a number of replicas that are no field managers.
const (
	ownerSpec = "Spec" // the spec of the class
	ownerKept = "Kept" // an autoscaler that is gone left it
	ownerLane = "Enforcement"
)

// owner is who sets the replicas of a function, and whether that overrides the spec.
func (f Function) owner() (owner string, overridden bool) {
	if e, is := f.governor(); is {
		return e.Name, false
	}
	if f.Replicas == nil {
		return "", false
	}
	field := f.field()
	switch by, is := field.Overridden(); {
	case !is && field.Lane != nil:
		return ownerLane, false
	case !is:
		return ownerSpec, false
	case by == "":
		return ownerKept, true
	default:
		return by, true
	}
}

// overriding says what is not as the spec asks for because another decided so, and how to take it back. It is no failure.
func overriding(in input) (v verdict, is bool) {
	for _, f := range in.World.Functions {
		if words, is := f.overrideWords(in.Obj); is && !f.isTakenBack(in) {
			v = verdict{reason: ReasonOverridden, message: words}
			at, asked := retakeTime(in.Obj)
			if wait := at.Sub(in.Now); asked && wait > 0 {
				v.again = wait // a clock may be ahead
			}
			return v, true
		}
	}
	return v, false
}

func (f Function) overrideWords(c *runtimev1.ClassRuntime) (words string, is bool) {
	owner, overridden := f.owner()
	if !overridden {
		return "", false
	}
	how := fmt.Sprintf("kubectl annotate crt %s -n %s --overwrite %s=$(date -u +%%FT%%TZ)", c.Name, c.Namespace, runtimev1.RetakeAnnotation)
	n := replicas(f.Replicas.Live)
	if f.hasLane() {
		return fmt.Sprintf("%q has set Deployment %s to %s, and that stands, so that it is not enforced what function %s needs. To have that, ask for it once: %s does so.",
			owner, f.Name, n, f.Key, how), true
	}
	if owner == ownerKept {
		return fmt.Sprintf("Deployment %s keeps %s, as an autoscaler left it; the spec asks for %d. To have that, edit replicas of function %s, or ask for it once: %s does so.",
			f.Name, n, f.Replicas.Want, f.Key, how), true
	}
	if owner == ownership.Unknown {
		return fmt.Sprintf("Deployment %s was scaled to %s, which leaves no trace of who did it but in the audit log of the API server, and that stands; the spec asks for %d. To have that, ask for it once: %s does so.",
			f.Name, n, f.Replicas.Want, how), true
	}
	return fmt.Sprintf("%q has set Deployment %s to %s, and that stands; the spec asks for %d. To have that, ask for it once: %s does so.", owner, f.Name, n, f.Replicas.Want, how), true
}

// least is how many replicas a function must have: what the spec, or the limit of an autoscaler, asks for, and not more than
// who overrides the spec wants. Only the spec may ask for none.
func (f Function) least() int32 {
	if e, is := f.governor(); is {
		return e.Min
	}
	if _, overridden := f.owner(); overridden && f.Floor > 0 {
		return max(1, min(f.Floor, f.Replicas.Live))
	}
	return f.Floor
}
