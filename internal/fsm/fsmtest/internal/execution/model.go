package execution

import "github.com/statecraft-dev/statecraft/internal/fsm"

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case Reserve:
		if w.Holder == "" {
			w.Holder = e.Holder
		}
	case CreateJob:
		if w.Job == nil { // AlreadyExists under the derived name is ours
			w.Job = &Job{UID: "job-" + e.Owner, Suspended: true}
		}
	case ReleaseJob:
		if w.Job != nil && w.Job.UID == e.UID && w.Job.Suspended {
			w.Job = &Job{UID: e.UID}
		}
	}
	return w
}

// Settle is what others do meanwhile: a released Job runs to its end.
func Settle(_ *Execution, w World) World {
	if w.Job != nil && !w.Job.Suspended && !w.Job.Complete && !w.Job.Failed {
		w.Job = &Job{UID: w.Job.UID, Complete: true}
		w.Message, w.Token = Applied, true
	}
	return w
}
