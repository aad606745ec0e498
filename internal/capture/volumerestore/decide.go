package volumerestore

import (
	"cmp"
	"strings"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// decidePending accepts what can be restored. Nothing was made yet, so every verdict is cheap.
func decidePending(in input) fsm.Decision {
	w, v := in.World, refused(in)
	switch {
	case v.given():
		return v.fire()
	case w.Rights.Sight == "":
		return notLooked("captures", "what the requester may do")
	case w.Source.Sight == Unfinished && overdue(in):
		return fsm.Fire(GivenUp, capturev1.ReasonSourceNotReady).Because("%s was not finished in time; make another request once it is.", w.Source.What)
	case w.Source.Sight == Unfinished:
		return fsm.Wait(ReasonWaitingForCapture, "captures").In(recheck).Because("Waiting for %s to be finished.", w.Source.What)
	case w.Source.Sight != Ready || w.Keeping.Sight == "" || w.Claim.Sight == "":
		return notLooked("captures", "what is to be restored")
	}
	return fsm.Fire(Accepted, ReasonAccepted)
}

// notLooked waits while something was not read, which is no evidence of anything.
func notLooked(wake, what string) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, wake).In(recheck).Because("Waiting for the manager to read %s.", what)
}

func overdue(in input) bool { return !in.Now.Before(deadline(in)) }

// keeping is said before the keeper is made and after: other words would be another write.
const keeping = "Waiting for the ObjectKeeper of the request, which proves that the restore has begun."

// decidePreparing makes the keeper. What is to be restored is looked at again, because from
// here on the status says what it is.
func decidePreparing(in input) fsm.Decision {
	w, v := in.World, refused(in)
	switch {
	case v.given():
		return v.fire()
	case w.Rights.Sight == "":
		return notLooked("captures", "what the requester may do")
	case w.Keeping.Sight == presence.Gone:
		return fsm.Do(ReasonKeeping, CreateKeeper{w.Keeping.Namespace}).Because(keeping)
	case w.Keeping.Sight != presence.Here:
		return fsm.Wait(ReasonKeeping, "keepers").In(recheck).Because(keeping)
	case w.Source.Sight != Ready:
		return notLooked("captures", "what is to be restored")
	}
	return fsm.Fire(Kept, ReasonKept)
}

// decideRestoring waits for the restorer. A claim that is bound to what was restored is a
// success, whatever was said before.
func decideRestoring(in input) fsm.Decision {
	w, v := in.World, troubled(in)
	switch {
	case w.Claim.bound() && in.Obj.Spec.Rehearsal != nil:
		return fsm.Fire(Restored, ReasonBound)
	case w.Claim.bound():
		return fsm.Fire(Bound, capturev1.ReasonCompleted).Because("%s holds what was captured.", claimName(in))
	case v.given():
		return v.fire()
	case in.Obj.Status.Source == nil:
		return decideSource(in)
	case w.Claim.Trouble != "":
		return fsm.Wait(ReasonRestoring, "claims").In(recheck).
			Because("Waiting for %s to be bound; the restorer of %s reports %s, and tries again. Condition %s of the claim says more.",
				claimName(in), in.Obj.Status.Source.Driver, w.Claim.Trouble, capturev1.RestoreCondition)
	}
	return fsm.Wait(ReasonRestoring, "claims").In(recheck).Because("%s", awaited(in, in.Obj.Status.Source))
}

func awaited(in input, source *capturev1.ResolvedSource) string {
	return "Waiting for statecraft-restorer of " + source.Driver + " to restore " + claimName(in) + "."
}

// decideSource records what is restored: with the move to this phase, and once more after the
// status was lost. Its words are those of the wait that follows, or they would be a write.
func decideSource(in input) fsm.Decision {
	v := refused(in)
	switch {
	case v.given():
		return v.fire()
	case in.World.Source.Sight == Ready && in.World.Keeping.Sight == presence.Here:
		return fsm.Save(ReasonRestoring).Because("%s", awaited(in, in.World.Source.Resolved))
	}
	return notLooked("captures", "what is to be restored")
}

func claimName(in input) string {
	return "PersistentVolumeClaim " + in.Obj.Spec.VolumeClaimTemplate.Name
}

func probing(in input) string {
	return "Waiting for Job " + ProbeName(in.Obj.UID) + " of the rehearsal to end."
}

// decideRehearsing runs the Job. Its volume goes with the request, so it may do anything to it.
func decideRehearsing(in input) fsm.Decision {
	w := in.World
	switch w.Probe.Sight {
	case NoProbe:
		switch v := unpermitted(in); {
		case v.given():
			return v.fire()
		case w.Rights.Sight == "":
			return notLooked("keepers", "what the requester may do")
		case w.Keeping.Lost():
			return because(capturev1.ReasonArtifactLost, request.LostMessage).fire()
		case w.Keeping.Sight != presence.Here:
			return notLooked("keepers", "the ObjectKeeper of the request")
		}
		return fsm.Do(ReasonProbing, CreateProbe{w.Keeping.UID}).Because("%s", probing(in))
	case ProbeTaken:
		return because(capturev1.ReasonNameTaken, "Job %s exists and is not of this rehearsal; make another request.", ProbeName(in.Obj.UID)).fire()
	case ProbePassed:
		return fsm.Fire(ProbeSucceeded, capturev1.ReasonCompleted).Because("The Job of the rehearsal succeeded.")
	case ProbeFailed:
		return because(capturev1.ReasonProbeFailed, "Job %s of the rehearsal failed: %s.", ProbeName(in.Obj.UID), w.Probe.Words).fire()
	case ProbeRuns:
		return fsm.Wait(ReasonProbing).In(glance).Because("%s", cmp.Or(w.Probe.Words, probing(in)))
	}
	return fsm.Wait(ReasonNotLooked).In(glance).Because("Waiting for the manager to read the Job of the rehearsal.")
}

// decideCleaningUp removes what was made for nothing, and then ends for the reason that it was given up for; for
// that reason also if it cannot be removed, or seen, for long.
func decideCleaningUp(in input) fsm.Decision {
	d, v := cleaningUp(in), in.Obj.Status.Failure
	if v == nil {
		return d
	}
	return request.CleanInTime(d, in.Obj.Status.Place, in.Now, cleaned(in))
}

// cleaned ends for the reason that the request was given up for, and says what it leaves.
func cleaned(in input) fsm.Decision {
	v := in.Obj.Status.Failure
	return fsm.Fire(Cleaned, v.Reason).Because("%s", strings.TrimSpace(v.Message+leftBehind(in)))
}

// cleaningUp: a claim that is bound after all is a success that came late, but for a
// rehearsal, which was about its Job. One that a volume was made for, or moved to, and that is
// not bound yet, is not empty: with it the volume would go. One that is reserved stays.
func cleaningUp(in input) fsm.Decision {
	w, rehearsal := in.World, in.Obj.Spec.Rehearsal != nil
	switch v := in.Obj.Status.Failure; {
	case w.Claim.Sight == "" || rehearsal && w.Probe.Sight == "":
		return notLooked("claims", "what the request made")
	case w.Claim.bound() && !rehearsal:
		return fsm.Fire(Bound, capturev1.ReasonCompleted).Because("%s holds what was captured.", claimName(in))
	case v == nil:
		return fsm.Save(ReasonCleaning).Because(removing)
	case w.Claim.Sight == presence.Here && w.Claim.Volume == Awaiting:
		return fsm.Wait(ReasonCleaning, "claims").In(recheck).Because("Waiting for %s to be bound to the volume that was made for it.", claimName(in))
	case w.Probe.Sight == ProbeRuns:
		return endProbe(w.Probe)
	case w.Claim.isSurplus():
		return fsm.Do(ReasonCleaning, DeleteClaim{w.Claim.UID, w.Claim.ResourceVersion}).Because(removing)
	default:
		return cleaned(in)
	}
}

const removing = "The manager removes what was made for the request."

// endProbe deletes the Job once. Somebody's finalizer may keep it for ever, so that is a wait, which ends.
func endProbe(p Probe) fsm.Decision {
	if p.Deleting {
		return fsm.Wait(ReasonCleaning).In(glance).Because("Waiting for the Job of the rehearsal, which is being deleted, to be gone.")
	}
	return fsm.Do(ReasonCleaning, DeleteProbe{p.UID, p.ResourceVersion}).Because(removing)
}

// lost finds the place of a request whose status was lost. The keeper proves that it had
// begun. A claim of its own is looked at further; without one the restore may have been done
// and its claim deleted since, so it is not done again.
func lost(in input) (fsm.Phase, bool) {
	if in.World.Keeping.Sight != presence.Here {
		return "", false
	}
	if in.World.Claim.Sight == presence.Here && !in.World.Claim.Deleting {
		return Restoring, true
	}
	return CleaningUp, true
}
