package class

import (
	"fmt"
	"strings"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// verdict is what is wrong with a function, or what it waits for.
type verdict struct {
	reason  fsm.Reason
	message string
	again   time.Duration // when it may end by the clock alone; 0 is never
}

// inVain says that what is awaited did not come in time.
func (v verdict) inVain(in input) string {
	return fmt.Sprintf("Not done within %s: %s", patience(in.Obj), v.message)
}

// failure is what waiting for a rollout does not end, the gravest first.
func failure(in input) (verdict, bool) {
	for _, f := range in.World.Functions {
		if v, is := crashes(f, in.Now); is {
			return v, true
		}
	}
	if v, is := unfit(in); is {
		return v, true
	}
	for _, f := range in.World.Functions {
		if v, is := refusesPods(f); is && f.untilRefused(in.Now) <= 0 {
			return v, true
		}
	}
	for _, f := range in.World.Functions {
		if f.Rollout.Seen && f.Rollout.Stuck && !f.becomes() {
			return verdict{reason: ReasonTimeout, message: cause(in.Obj, f).inVain(in)}, true
		}
	}
	return verdict{}, false
}

// unfit is why children are not as the spec asks for although nothing is to be applied: however ready the functions are, the
// class is not available.
func unfit(in input) (verdict, bool) {
	if v, is := contested(in); is {
		return v, true
	}
	for _, f := range in.World.Functions {
		if v, is := conflictingEngines(f); is {
			return v, true
		}
	}
	return verdict{}, false
}

// refusesPods says that pods of a function cannot be created. Those that run are left alone by that.
func refusesPods(f Function) (verdict, bool) {
	if f.Rollout.Refused == "" || f.becomes() {
		return verdict{}, false
	}
	return verdict{reason: ReasonPodsRefused, message: fmt.Sprintf("Pods of Deployment %s cannot be created: %s. Change what refuses them, or what the function asks for.",
		f.Name, strings.TrimRight(f.Rollout.Refused, "."))}, true
}

// believed is for how long pods must have been refused until that is a failure: right after a pod was created the
// controller of ReplicaSets takes its condition back for a moment, and sets it again.
const believed = 2 * time.Second

// untilRefused is when a refusal of pods will be a failure.
func (f Function) untilRefused(now time.Time) time.Duration {
	return at(f.Rollout.RefusedSince).Add(believed).Sub(now)
}

// untilFailure is when the clock alone will make a failure of what is seen; 0 is never.
func untilFailure(in input) (soonest time.Duration) {
	for _, f := range in.World.Functions {
		if _, is := refusesPods(f); !is {
			continue
		}
		if left := f.untilRefused(in.Now); left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// earlier is the earlier of two times to look again; 0 is never.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// awaited is what the first function that is not ready waits for.
func awaited(in input) verdict {
	for _, f := range in.World.Functions {
		if !f.becomes() {
			return cause(in.Obj, f)
		}
	}
	return verdict{reason: ReasonWaiting, message: "Waiting for the functions of the class."}
}

// causes are why pods do not run that a person can do something about, the most telling first.
var causes = []struct {
	reason fsm.Reason
	of     []podstate.Reason
}{
	{ReasonImagePull, []podstate.Reason{podstate.ImagePullBackOff, podstate.InvalidImageName}},
	{ReasonConfigMissing, []podstate.Reason{podstate.CreateContainerConfigError}},
	{ReasonUnschedulable, []podstate.Reason{podstate.Unschedulable}},
	{ReasonWaiting, nil}, // any other
}

// cause is why a function is not ready, the best that is known.
func cause(c *runtimev1.ClassRuntime, f Function) verdict {
	if v, is := refusesPods(f); is {
		return v
	}
	if words, is := f.overrideWords(c); is && f.Rollout.Desired == 0 {
		return verdict{reason: ReasonOverridden, message: words}
	}
	if v, is := f.pausedRollout(c); is {
		return v
	}
	if v, is := f.blindEngine(); is && f.Rollout.Desired < f.least() {
		return v
	}
	if v, is := f.podTrouble(); is {
		return v
	}
	if r := f.Rollout; r.Total > r.Updated {
		return verdict{reason: ReasonWaiting, message: fmt.Sprintf("Waiting for Deployment %s to replace its old pods.", f.Name)}
	}
	return verdict{reason: ReasonWaiting, message: fmt.Sprintf("Waiting for Deployment %s to have %s ready.", f.Name, replicas(f.least()))}
}

// pausedRollout says that pods are not replaced because a person has paused that.
func (f Function) pausedRollout(c *runtimev1.ClassRuntime) (verdict, bool) {
	r := f.Rollout
	if !r.Paused || r.Updated >= r.Desired && r.Total <= r.Updated {
		return verdict{}, false
	}
	return verdict{reason: ReasonRolloutPaused, message: fmt.Sprintf(
		"Deployment %[1]s is paused, so that its pods are not replaced. Somebody has run kubectl rollout pause: kubectl rollout resume deployment/%[1]s -n %[2]s ends that.", f.Name, c.Namespace)}, true
}

// podTrouble is the most telling reason why a pod does not run.
func (f Function) podTrouble() (verdict, bool) {
	for _, c := range causes {
		for _, p := range f.lacking() {
			if p.Trouble.Is() && (c.of == nil || contains(c.of, p.Trouble.Reason)) {
				return verdict{reason: c.reason, message: p.Trouble.Words}, true
			}
		}
	}
	return verdict{}, false
}

func contains(all []podstate.Reason, one podstate.Reason) bool {
	for _, r := range all {
		if r == one {
			return true
		}
	}
	return false
}

func replicas(n int32) string {
	if n == 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", n)
}
