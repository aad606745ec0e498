package manifestcapture

import (
	"fmt"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideCleaningUp removes what was made, and then ends for the reason that it was given up for; for that reason
// also if it cannot be removed, or seen, for long.
func decideCleaningUp(in input) fsm.Decision {
	d, v := cleaningUp(in), in.Obj.Status.Failure
	if v == nil {
		return d
	}
	return request.CleanInTime(d, in.Obj.Status.Place, in.Now, fsm.Fire(GivenUp, v.Reason).Because("%s", v.Message))
}

// cleaningUp stops work first: it would make more. The keeper stays: it is the proof that the
// request has begun.
func cleaningUp(in input) fsm.Decision {
	w, failure := in.World, in.Obj.Status.Failure
	switch {
	case failure == nil:
		return fsm.Save(ReasonRecording)
	case w.Work.State == Running:
		return fsm.Do(ReasonStoppingWork, StopWork{}).In(glance).Because("work under way to be stopped")
	case unjudged(in.Obj):
		return fsm.Fire(GivenUp, failure.Reason).Because("%s; what was captured before the status was lost stays for as long as the request", failure.Message)
	case w.Leftovers == nil:
		return notLooked()
	case len(w.Leftovers) > 0:
		var effects []fsm.Effect
		for _, l := range w.Leftovers {
			effects = append(effects, Remove{l})
		}
		return fsm.Do(ReasonRemoving, effects...).In(glance).Because("what was made to be removed")
	}
	return fsm.Fire(Cleaned, failure.Reason).Because("%s", failure.Message)
}

// failure is why a request has come to be cleaned up: the last move says how.
func failure(in input, last meta.Transition) *capturev1.RequestFailure {
	switch last.Event {
	case TimedOut:
		return &capturev1.RequestFailure{Reason: capturev1.ReasonDeadlineExceeded, Message: overdue(in, last.From)}
	case fsm.Lost:
		return &capturev1.RequestFailure{Reason: meta.Reason(fsm.Lost), Message: "the status was lost after the work had begun; make another request"}
	}
	// What was said is asked again: a decision is a function of what it saw.
	var d fsm.Decision
	switch last.From {
	case Preparing:
		d = decidePreparing(in)
	case Reading:
		d = decideReading(in)
	case Writing:
		d = decideWriting(in)
	case Verifying:
		d = decideVerifying(in)
	}
	return &capturev1.RequestFailure{Reason: last.Reason, Message: fsm.Cut(d.Message)}
}

func overdue(in input, phase fsm.Phase) string {
	said := fmt.Sprintf("not finished within %d seconds, in phase %s", in.Obj.Spec.DeadlineSeconds, phase)
	if in.Obj.Status.Phase == phase && in.Obj.Status.WaitingFor != "" {
		said += "; it waited for " + in.Obj.Status.WaitingFor
	}
	return fsm.Cut(said)
}
