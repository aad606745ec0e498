package pool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideConnecting finds where a pool stands, also one that lost its status.
func decideConnecting(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked()
	case !slices.Contains(in.Obj.Finalizers, edgev1.PoolFinalizer):
		return fsm.Do(ReasonStarting, AddFinalizer{in.Obj.UID, in.Obj.ResourceVersion}).Because("The manager makes sure that the pool stays until nothing of it is left.")
	}
	if d, is := notAllowed(in); is {
		return d
	}
	switch w.Access.State {
	case Answered:
		return fsm.Fire(Connected, ReasonSurveying)
	case Unreachable:
		if w.Nodes > 0 { // it was served before
			return fsm.Fire(Lost, ReasonUnreachable).Because("%s", unreachable(w))
		}
		return fsm.Wait(ReasonUnreachable, "sweep").Because("%s", unreachable(w))
	}
	return fsm.Wait(ReasonConnecting, "sweep", "credentials").Because("Waiting for the first answer of Flight Control at %s.", in.Obj.Spec.Server.URL)
}

func notLooked() fsm.Decision {
	return fsm.Wait(ReasonNotLooked, "nodes").In(recheck).Because("Waiting for the manager to read the Nodes of the pool.")
}

func unreachable(w World) string {
	return "Flight Control does not answer, so Nodes and pods stay as they are: " + w.Access.Words
}

// notAllowed is what a person must change.
func notAllowed(in input) (d fsm.Decision, is bool) {
	w := in.World
	switch {
	case w.Access.State == Denied:
		return fsm.Fire(NotAllowed, ReasonDenied).Because("%s", denied(w)), true
	case tooMany(in):
		return fsm.Fire(NotAllowed, ReasonTooMany).Because("%s", many(in)), true
	}
	return d, false
}

func denied(w World) string {
	return "Flight Control refuses the credentials of the pool: " + w.Access.Words
}

func tooMany(in input) bool { return in.World.surveyed() && in.World.Survey.Devices > limit(in) }

func many(in input) string {
	return fmt.Sprintf("The pool has %d devices and may have %d: select fewer, or raise spec.limit.", in.World.Survey.Devices, limit(in))
}

func limit(in input) int {
	const standard = 500
	if l := in.Obj.Spec.Limit; l > 0 {
		return int(l)
	}
	return standard
}

// away leaves a phase in which Flight Control has answered.
func away(in input) (d fsm.Decision, is bool) {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked(), true
	case w.Access.State == "":
		return fsm.Fire(Changed, ReasonChanged).Because("The spec of the pool was changed."), true
	}
	if d, is := notAllowed(in); is {
		return d, true
	}
	if w.Access.State == Unreachable && silence(in) >= blindAfter {
		return fsm.Fire(Lost, ReasonUnreachable).Because("%s", unreachable(w)), true
	}
	return d, false
}

// silence is how long Flight Control does not answer.
func silence(in input) time.Duration { return in.Now.Sub(time.Unix(in.World.Access.Since, 0)) }

func decideSurveying(in input) fsm.Decision {
	if d, is := away(in); is {
		return d
	}
	if in.World.surveyed() {
		return fsm.Fire(Surveyed, ReasonServing)
	}
	return fsm.Wait(ReasonSurveying, "sweep").In(blindAfter).Because("Reading all devices of the pool and all pods of the cluster, before anything is sent or removed.")
}

// decideServing removes what no pod has, and heals devices that run what nothing asks for.
func decideServing(in input) fsm.Decision {
	w := in.World
	if d, is := away(in); is {
		return d
	}
	if d, is := removeOrphans(in); is {
		return d
	}
	if w.surveyed() && len(w.Unasked) > 0 {
		return fsm.Do(ReasonUnasked, NudgeDevice{w.Unasked[0], in.Now.Unix()}).In(sweep).
			Because("Device %s runs an application of the pool that its spec does not have, so it is given a new version of it.", w.Unasked[0])
	}
	return fsm.Wait(ReasonServing, "sweep", "nodes").In(recheck).Because("The devices of the pool are announced as Nodes.")
}

func decideBlind(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked()
	case w.Access.State == "":
		return fsm.Fire(Changed, ReasonChanged).Because("The spec of the pool was changed.")
	case w.Access.State == Denied:
		return fsm.Fire(NotAllowed, ReasonDenied).Because("%s", denied(w))
	case w.Access.State == Answered: // and both sides are read anew before anything is removed
		return fsm.Fire(Connected, ReasonAnswered).Because("Flight Control answers again.")
	}
	return fsm.Wait(ReasonUnreachable, "sweep").Because("%s", unreachable(w))
}

func decideRefused(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked()
	case w.Access.State == Denied:
		return fsm.Wait(ReasonDenied, "sweep", "credentials").Because("%s", denied(w))
	case tooMany(in):
		return fsm.Wait(ReasonTooMany, "self", "sweep").Because("%s", many(in))
	case w.Access.State == Answered:
		return fsm.Fire(Connected, ReasonAnswered).Because("Flight Control answers, and the pool may have its devices.")
	}
	return fsm.Fire(Changed, ReasonChanged).Because("What kept the pool from being served is over.")
}

func some(names []string, count int) string {
	text := strings.Join(names, ", ")
	if more := count - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
