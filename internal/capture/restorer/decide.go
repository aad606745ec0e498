package restorer

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// now performs effects and looks again at once: all reads are live, so what was done is seen.
func now(why fsm.Reason, effects ...fsm.Effect) fsm.Decision {
	return fsm.Do(why, effects...).In(time.Millisecond)
}

// decideClaiming makes the claim before the volume: a name that is taken and a quota that is
// used up show before storage is spent.
func decideClaiming(in input) fsm.Decision {
	w := in.World
	if d, is := turned(in); is {
		return d
	}
	switch {
	case w.Claim.Sight == presence.Gone && (w.Keeper.Needed && w.Keeper.UID == "" || !w.Moves && w.Class.Name == ""):
		return fsm.Wait(ReasonNotLooked, "requests").In(recheck)
	case w.Claim.Sight == presence.Gone:
		return now(ReasonNoClaim, CreateClaim{w.Class.Name, destined(in), w.Keeper.UID})
	case w.PV.Sight == Strange:
		return fsm.Wait(ReasonVolumeInTheWay, "claims").In(recheck)
	case w.Claim.Consumer:
		return fsm.Wait(ReasonWaitingForConsumer, "claims")
	case w.Intent.Flaw != nil:
		return tell(in, *w.Intent.Flaw)
	case w.Intent.Draft == nil:
		return fsm.Wait(ReasonNotLooked, "claims").In(recheck)
	}
	return now(ReasonIntending, CreateIntent{*w.Intent.Draft})
}

// destined is the volume that the claim is for, unless a pod decides where it is made.
func destined(in input) string {
	switch w := in.World; {
	case w.Moves:
		return w.PV.Name
	case w.Class.Immediate:
		return VolumeName(in.Obj.UID)
	}
	return ""
}

// tell tells the claim once, and waits for somebody to act.
func tell(in input, t Trouble) fsm.Decision {
	if c := in.World.Claim; c.Told != t.Reason {
		return now(ReasonTelling, Tell{c.ref(), t.Reason, t.Words})
	}
	return fsm.Wait(ReasonStuck, "claims").In(recheck)
}

// decideProvisioning asks the driver until it answers. The volume has an owner once the
// PersistentVolume exists; only then the intent goes.
func decideProvisioning(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	if d, is := turned(in); is {
		return d
	}
	intent := *w.Intent.Intent
	switch {
	case w.PV.Sight == ForUs && w.Claim.Told != "":
		return now(ReasonOwned, Tell{Claim: w.Claim.ref()}, RemoveIntent{w.Intent.UID, w.Intent.ResourceVersion})
	case w.PV.Sight == ForUs:
		return now(ReasonOwned, RemoveIntent{w.Intent.UID, w.Intent.ResourceVersion})
	case w.PV.Sight == Strange:
		return fsm.Wait(ReasonVolumeInTheWay, "claims").In(recheck)
	case w.Request != Wanted: // its status may have been lost: nothing is made that was not asked for
		return fsm.Wait(ReasonNotLooked, "requests").In(recheck)
	case s.Volume != nil:
		return now(ReasonPublishing, CreatePV{intent, *s.Volume})
	case s.Trouble != nil && w.Claim.Told != s.Trouble.Reason:
		return now(ReasonTelling, Tell{w.Claim.ref(), s.Trouble.Reason, s.Trouble.Words})
	}
	return now(ReasonAsking, CreateVolume{intent})
}

// decideMoving hands the volume over, if nobody else was faster, and lets go of it once it is bound.
func decideMoving(in input) fsm.Decision {
	w := in.World
	if d, is := turned(in); is {
		return d
	}
	switch w.PV.Sight {
	case ForUs:
		return now(ReasonMoving, FinishMove{w.PV})
	case Held:
		return now(ReasonMoving, MoveVolume{w.PV, w.Claim.ref()})
	case NoPV:
		return tell(in, Trouble{capturev1.ReasonSourceConsumed, "PersistentVolume " + w.PV.Name + " is gone"})
	}
	return tell(in, Trouble{capturev1.ReasonSourceConsumed, "PersistentVolume " + w.PV.Name + " belongs to " + w.PV.Holder})
}

// decideDiscarding undoes what was begun. A PersistentVolume owns its volume and is left to
// its reclaim policy; without one the driver may have a volume that nobody knows of.
func decideDiscarding(in input) fsm.Decision {
	w := in.World
	if d, is := turned(in); is {
		return d
	}
	switch remove := (RemoveIntent{w.Intent.UID, w.Intent.ResourceVersion}); {
	case w.Intent.Sight == presence.Here && w.PV.Sight != NoPV:
		return now(ReasonOwned, remove)
	case w.Intent.Sight == presence.Here:
		return now(ReasonAbandoned, DiscardVolume{*w.Intent.Intent}, remove)
	}
	return now(ReasonAbandoned, DeleteClaim{w.Claim.Name, w.Claim.UID, w.Claim.ResourceVersion})
}
