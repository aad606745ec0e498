package manifestcapture

import (
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

const removing = "The manager removes what the request had made."

// cleaningUp stops work first: it would make more. The keeper stays: it is the proof that the
// request has begun.
func cleaningUp(in input) fsm.Decision {
	w, failure := in.World, in.Obj.Status.Failure
	switch {
	case failure == nil:
		return fsm.Save(ReasonRemoving).Because(removing)
	case w.Work.State == Running:
		return fsm.Do(ReasonStoppingWork, StopWork{}).In(glance).Because("The manager stops the work that is under way.")
	case stays(in.Obj):
		return fsm.Fire(GivenUp, failure.Reason).Because("%s What was captured before the status was lost stays for as long as the request exists.", failure.Message)
	case w.Leftovers == nil:
		return notLooked()
	case len(w.Leftovers) > 0:
		var effects []fsm.Effect
		for _, l := range w.Leftovers {
			effects = append(effects, Remove{l})
		}
		return fsm.Do(ReasonRemoving, effects...).In(glance).Because(removing)
	}
	return fsm.Fire(Cleaned, failure.Reason).Because("%s", failure.Message)
}
