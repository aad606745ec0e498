package request

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// decidePending finds the targets of all steps and saves them, and then reserves them in the order in which they are
// saved. That order is the same for every request: two that want the same targets never wait for each other.
func decidePending(in input) fsm.Decision {
	if len(in.Obj.Status.Targets) == 0 {
		return findTargets(in)
	}
	if d, takes := reserveTargets(in); takes {
		return d
	}
	return fsm.Fire(Admitted, ReasonAdmitted).Because("The targets of all steps are reserved.")
}

func findTargets(in input) fsm.Decision {
	for i, l := range in.World.Looks {
		name := in.Obj.Spec.Steps[min(i, len(in.Obj.Spec.Steps)-1)].Name
		switch {
		case l.NeedsAccount:
			action := in.Obj.Spec.Steps[min(i, len(in.Obj.Spec.Steps)-1)].Action
			return fsm.Do(ReasonMakingAccount, MakeAccount{action}).Because("The ServiceAccount of action %s is being made in namespace %s.", action, in.Obj.Namespace)
		case l.Outcome == execution.Refused:
			return fsm.Fire(Refused, ReasonInvalid).Because("Step %s cannot be carried out: %s", name, l.Message)
		case l.Outcome == execution.Waiting:
			return fsm.Wait(l.Reason, "gates").In(lookAgain).Because("Step %s: %s", name, l.Message)
		}
	}
	if len(in.World.Looks) != len(in.Obj.Spec.Steps) {
		return fsm.Wait(ReasonNotLooked, "gates").In(lookAgain).Because("Waiting for a look at the targets of all steps.")
	}
	return fsm.Save(ReasonTargetsFound).Because("The targets of all steps exist, and are being saved.")
}

// reserveTargets takes the first target that is not ours. Those before it are ours already.
func reserveTargets(in input) (d fsm.Decision, takes bool) {
	for _, t := range in.Obj.Status.Targets {
		switch f := in.World.target(t.UID); f.State {
		case reserve.Ours:
		case reserve.Free:
			return fsm.Do(ReasonReserving, reserve.Take{Target: refOf(t)}).Because("%s is being reserved.", refOf(t).Title()), true
		case reserve.Others:
			words, _ := f.Held(refOf(t).Title())
			return fsm.Wait(ReasonReservedByOther, reserve.Wake.Name).Because("%s", words), true
		default:
			return fsm.Wait(ReasonNotLooked, reserve.Wake.Name).In(lookAgain).Because("Waiting for a look at the reservation of %s.", refOf(t).Title()), true
		}
	}
	return d, false
}
