package class

import (
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decidePending finds where a class stands, also one that lost its status.
func decidePending(in input) fsm.Decision {
	switch {
	case !in.World.Looked:
		return notLooked()
	case behind(in):
		return fsm.Fire(Began, ReasonApplying)
	}
	return fsm.Fire(AllApplied, ReasonApplied)
}

// watched are the wakes of a class that runs. Others are autoscalers and budgets of other owners; telemetry is what is measured.
func watched() []string { return []string{"children", "pods", "others", "telemetry"} }

func notLooked() fsm.Decision {
	return fsm.Wait(ReasonNotLooked, "children").Because("Waiting for the manager to read the children of the class.")
}

func decideApplying(in input) fsm.Decision {
	if !in.World.Looked {
		return notLooked()
	}
	if d, acts := work(in, ReasonApplying, "The manager applies the functions of the class."); acts {
		return d
	}
	if why, is := in.World.invalid(); is {
		return fsm.Fire(Refused, ReasonApplyInvalid).Because("%s", why)
	}
	if v, is := contested(in); is {
		return fsm.Fire(Refused, v.reason).Because("%s", v.message)
	}
	if words, is := in.World.going(); is {
		return fsm.Wait(ReasonApplying, watched()...).In(recheck).Because("%s", words)
	}
	return fsm.Fire(AllApplied, ReasonApplied)
}

// recheck is when something is looked at again whose end may go unseen: it may not bear our labels.
const recheck = 10 * time.Second

// work applies what is outdated, and then removes what is left over: what runs is not stopped before what
// takes its place was accepted. What is refused may wait for a person for ever, and does not keep functions running
// that the spec does not have.
func work(in input, why fsm.Reason, words string) (d fsm.Decision, acts bool) {
	batch := batch(in)
	if abandoned := in.World.abandoned(); len(abandoned) > 0 && allRefused(in.Obj, batch) {
		return fsm.Do(why, RemoveOrphans{abandoned[:min(len(abandoned), mostAtATime)]}).Because("%s", words), true
	}
	if len(batch) > 0 {
		return fsm.Do(why, Apply{batch}).Because("%s", words), true
	}
	if orphans := in.World.Orphans; len(orphans) > 0 {
		return fsm.Do(ReasonRemovingOrphans, RemoveOrphans{orphans[:min(len(orphans), mostAtATime)]}).
			Because("The manager deletes children that no function of the class has any more."), true
	}
	return d, false
}

func decideProgressing(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked()
	case behind(in) && !in.Obj.Spec.Paused:
		return fsm.Fire(Outdated, ReasonOutdated).Because("%s", whatIsBehind(in))
	case allReady(in):
		return fsm.Fire(BecameReady, ReasonAvailable)
	}
	if v, is := failure(in); is {
		return fsm.Fire(Failed, v.reason).Because("%s", v.message)
	}
	if behind(in) {
		return fsm.Fire(Outdated, ReasonOutdated) // the hold says that the class is paused
	}
	v := awaited(in)
	settling := untilSettled(in, v.reason)
	if settling > 0 || v.reason == ReasonWaiting && untilTold(in) > 0 { // it may be another in a moment
		return fsm.Wait(ReasonWaiting, watched()...).In(earlier(settling, earlier(untilTold(in), untilFailure(in)))).
			Because("Waiting for the functions of the class to be ready.")
	}
	return fsm.Wait(v.reason, watched()...).In(earlier(untilTold(in), untilFailure(in))).Because("%s", v.message)
}

// settles is for how long it is not told what single pods wait for: each is without a node, and without an image, for a
// moment, and a class that has no trouble is not worth a write for that.
const settles = 2 * time.Second

var momentary = []fsm.Reason{ReasonWaiting, ReasonImagePull, ReasonConfigMissing, ReasonUnschedulable, ReasonPodsRefused}

func untilSettled(in input, why fsm.Reason) time.Duration {
	if !slices.Contains(momentary, why) {
		return 0
	}
	return max(0, in.Obj.Status.Since.Add(settles).Sub(in.Now))
}

// decideAvailable stays while nothing is lost that may not be spared. What an edit asks for comes first.
func decideAvailable(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked()
	case behind(in) && !in.Obj.Spec.Paused:
		return fsm.Fire(Outdated, ReasonOutdated).Because("%s", whatIsBehind(in))
	}
	if v, is := failure(in); is {
		return fsm.Fire(Failed, v.reason).Because("%s", v.message)
	}
	if f, is := lost(w); is {
		return fsm.Fire(Unready, ReasonWaiting).Because("Function %s has lost replicas.", f.Key)
	}
	missing, again := overdue(in)
	if missing.reason != "" {
		return fsm.Fire(Overdue, ReasonTimeout).Because("%s", missing.message)
	}
	if behind(in) {
		return fsm.Fire(Outdated, ReasonOutdated) // the hold says that the class is paused
	}
	return settled(in, earlier(earlier(again, untilFailure(in)), untilStale(in)))
}

// settled waits while every function is ready, and tells what else a person may want to know.
func settled(in input, again time.Duration) fsm.Decision {
	if v, is := overriding(in); is {
		return fsm.Wait(v.reason, append(watched(), "self")...).In(earlier(again, v.again)).Because("Every function of the class is ready. %s", v.message)
	}
	if v, is := blindEngine(in.World); is {
		return fsm.Wait(v.reason, watched()...).In(again).Because("Every function of the class is ready. %s", v.message)
	}
	return fsm.Wait(ReasonAvailable, watched()...).In(again).Because("Every function of the class is ready.")
}

// decideDegraded tries what was refused again, without leaving the phase: else waiters would see a failure come and
// go with every try.
func decideDegraded(in input) fsm.Decision {
	w := in.World
	if !w.Looked {
		return notLooked()
	}
	if !in.Obj.Spec.Paused {
		if d, is := retry(in); is {
			return d
		}
	}
	if why, is := w.invalid(); is {
		return fsm.Wait(ReasonApplyInvalid, "self").Because("%s", why)
	}
	if v, is := failure(in); is {
		return fsm.Wait(v.reason, watched()...).In(v.again).Because("%s", v.message)
	}
	switch {
	case behind(in):
		return fsm.Fire(Outdated, ReasonOutdated) // the hold says that the class is paused
	case !allReady(in) && gaveUp(in): // only readiness ends it, or it would end by itself and begin again
		v := awaited(in)
		return fsm.Wait(ReasonTimeout, watched()...).Because("%s", v.inVain(in))
	}
	return fsm.Fire(Recovered, ReasonRecovered)
}

// refused are the reasons for which children could not be applied.
var refused = []fsm.Reason{ReasonApplyInvalid, ReasonConflict, ReasonNameTaken}

// retry tries what was refused again, in the words of the refusal; an edit of the spec leads back to the beginning.
func retry(in input) (d fsm.Decision, is bool) {
	last, _ := in.Obj.Status.LastMove(Degraded)
	if stands := last.Event == Refused && in.Obj.Generation <= in.Obj.Status.ObservedGeneration; !stands {
		if len(batch(in)) == 0 && len(in.World.Orphans) == 0 {
			return d, false
		}
		return fsm.Fire(Outdated, ReasonOutdated).Because("%s", whatIsBehind(in)), true
	}
	why, words := last.Reason, last.Message
	if p := in.Obj.Status; p.WaitingFor != "" && slices.Contains(refused, p.Reason) {
		why, words = p.Reason, p.WaitingFor // of the last try
	}
	return work(in, why, words)
}

// gaveUp says that the class was degraded because replicas did not come in time.
func gaveUp(in input) bool {
	last, _ := in.Obj.Status.LastMove(Degraded)
	return last.Reason == ReasonTimeout
}

func decideDeleting(in input) fsm.Decision {
	var left []Ref
	for _, f := range in.World.Functions {
		for _, c := range f.Children {
			if c.UID != "" && !c.Foreign {
				left = append(left, c.Ref)
			}
		}
	}
	left = append(left, in.World.Orphans...)
	if len(left) == 0 {
		return fsm.Wait(ReasonDeleting, "self", "children").Because("Waiting for Kubernetes to delete the class.")
	}
	return fsm.Wait(ReasonDeleting, "self", "children").Because("Waiting for Kubernetes to delete %s.", some(left))
}
