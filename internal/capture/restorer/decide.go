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

// What the restorer does, in the same words on the way into a phase and in it.
const (
	makingClaim = "The restorer makes the claim before the volume."
	asking      = "The restorer asks the CSI driver for volume %s."
	volumeOwned = "A PersistentVolume owns the volume, so the restorer removes its record of it."
	handing     = "The restorer hands PersistentVolume %s to the claim."
	discarding  = "The request or its claim is gone, or was given up: the restorer deletes what it made for them."
)

// notLooked waits while something was not read, which is no evidence of anything.
func notLooked(wake, what string) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, wake).In(recheck).Because("Waiting for the restorer to read %s.", what)
}

func volumeInTheWay(w World) fsm.Decision {
	return fsm.Wait(ReasonVolumeInTheWay, "claims").In(recheck).
		Because("PersistentVolume %s exists, and belongs to %s; delete it if its data is not needed.", w.PV.Name, w.PV.Holder)
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
		return notLooked("requests", "the ObjectKeeper of the request, and the StorageClass of the claim")
	case w.Claim.Sight == presence.Gone:
		return now(ReasonNoClaim, CreateClaim{w.Class.Name, destined(in), w.Keeper.owner()}).Because(makingClaim)
	case w.PV.Sight == Strange:
		return volumeInTheWay(w)
	case w.Claim.Consumer:
		return fsm.Wait(ReasonWaitingForConsumer, "claims").
			Because("Waiting for a pod that uses the claim: its StorageClass makes the volume where the pod is scheduled.")
	case w.Intent.Flaw != nil:
		return tell(in, *w.Intent.Flaw)
	case w.Intent.Draft == nil:
		return notLooked("claims", "what the volume is to be made from")
	}
	return now(ReasonIntending, CreateIntent{*w.Intent.Draft}).Because("The restorer records what it is about to ask the CSI driver for.")
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
		return now(ReasonTelling, Tell{c.ref(), t.Reason, t.Words}).Because("%s", t.Words)
	}
	return fsm.Wait(ReasonStuck, "claims").In(recheck).Because("%s", t.Words)
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
		return now(ReasonOwned, Tell{Claim: w.Claim.ref()}, RemoveIntent{w.Intent.UID, w.Intent.ResourceVersion}).Because(volumeOwned)
	case w.PV.Sight == ForUs:
		return now(ReasonOwned, RemoveIntent{w.Intent.UID, w.Intent.ResourceVersion}).Because(volumeOwned)
	case w.PV.Sight == Strange:
		return volumeInTheWay(w)
	case w.Request != Wanted: // its status may have been lost: nothing is made that was not asked for
		return notLooked("requests", "whether the request still asks for the volume")
	case s.Volume != nil:
		return now(ReasonPublishing, CreatePV{intent, *s.Volume}).Because("The restorer makes PersistentVolume %s of what the CSI driver has made.", intent.Plan.Name)
	case s.Trouble != nil && w.Claim.Told != s.Trouble.Reason:
		return now(ReasonTelling, Tell{w.Claim.ref(), s.Trouble.Reason, s.Trouble.Words}).Because("%s", s.Trouble.Words)
	}
	return now(ReasonAsking, CreateVolume{intent}).Because(asking, intent.Plan.Name)
}

// decideMoving hands the volume over, if nobody else was faster, and lets go of it once it is bound.
func decideMoving(in input) fsm.Decision {
	w := in.World
	if d, is := turned(in); is {
		return d
	}
	switch w.PV.Sight {
	case ForUs:
		return now(ReasonMoving, FinishMove{w.PV}).Because(handing, w.PV.Name)
	case Held:
		return now(ReasonMoving, MoveVolume{w.PV, w.Claim.ref()}).Because(handing, w.PV.Name)
	case NoPV:
		return tell(in, Trouble{capturev1.ReasonSourceConsumed, "PersistentVolume " + w.PV.Name + " is gone."})
	}
	return tell(in, Trouble{capturev1.ReasonSourceConsumed, "PersistentVolume " + w.PV.Name + " belongs to " + w.PV.Holder + "."})
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
		return now(ReasonOwned, remove).Because(volumeOwned)
	case w.Intent.Sight == presence.Here:
		return now(ReasonAbandoned, DiscardVolume{*w.Intent.Intent}, remove).Because(discarding)
	}
	return now(ReasonAbandoned, DeleteClaim{w.Claim.Name, w.Claim.UID, w.Claim.ResourceVersion}).Because(discarding)
}
