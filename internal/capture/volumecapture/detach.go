package volumecapture

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// goes is how long a claim takes to go if nothing holds it.
const goes = 10 * time.Second

// retain is the policy of a volume that outlives its claim.
const retain = "Retain"

// detachable says what keeps the volume from being taken from its claim.
func detachable(in input) (d fsm.Decision, stop bool) {
	w := in.World
	switch {
	case in.Obj.Spec.Mode != capturev1.Detach:
		return d, false
	case w.Volume.Deleting:
		return fsm.Fire(Refused, capturev1.ReasonInvalidTarget).
			Because("PersistentVolume %s is being deleted, and only its claim keeps it, so it cannot be detached.", w.Volume.Name), true
	case w.Holder.Sight == presence.Other:
		return fsm.Fire(Refused, capturev1.ReasonNameTaken).
			Because("PersistentVolumeClaim %s, which would hold the volume, exists and is not of this request; make another request.", HolderName(in.Obj.UID)), true
	case w.Volume.Mark.By != "" && w.Volume.Mark.By != in.Obj.UID:
		return fsm.Fire(Refused, capturev1.ReasonInvalidTarget).
			Because("PersistentVolume %s is being detached by another request.", w.Volume.Name), true
	case !w.Users.Looked || w.Holder.Sight == "":
		return notLooked(in), true
	case w.Users.Pod != "":
		return fsm.Fire(Refused, capturev1.ReasonInUse).Because("%s", usedBy(in)), true
	}
	return d, false
}

func usedBy(in input) string {
	return "Pod " + in.World.Users.Pod + " uses PersistentVolumeClaim " + in.Obj.Spec.Target.Name + "; stop it, and make another request."
}

// decideDetaching finds from the volume, the claim and the holder which step is next. The
// words are the same for all steps but one: other words would be another write.
func decideDetaching(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	switch {
	case held(in) && w.Volume.Policy == w.Volume.Mark.Policy:
		return fsm.Fire(Captured, capturev1.ReasonCompleted).
			Because("PersistentVolume %s is the capture, held by PersistentVolumeClaim %s.", w.Volume.Name, HolderName(in.Obj.UID))
	case s.Detached == nil || s.Origin == nil:
		return fsm.Save(ReasonDetaching).Because("%s", detached(in))
	case !looked(w) || outdated(in):
		return detaching(in).In(barrier)
	case w.Volume.Sight == presence.Gone || w.Volume.UID != s.Detached.UID || !kept(w):
		return artifactLost()
	case w.Volume.Mark.By != in.Obj.UID:
		return mark(in)
	case claimed(in):
		return take(in)
	}
	return hold(in)
}

// looked says that all that a step is chosen by was read.
func looked(w World) bool {
	return w.Volume.Sight != "" && w.Claim.Sight != "" && w.Holder.Sight != "" && w.Keeping.Sight != ""
}

func kept(w World) bool { return w.Keeping.Sight == presence.Here && w.Keeping.UID != "" }

func detaching(in input) fsm.Decision {
	return fsm.Wait(ReasonDetaching, "volume", "holder").In(recheck).Because("%s", detached(in))
}

func detached(in input) string {
	return "Waiting for PersistentVolumeClaim " + HolderName(in.Obj.UID) + " to hold the volume."
}

// do is one step.
func do(in input, e Effect) fsm.Decision {
	return fsm.Do(ReasonDetaching, e).Because("%s", detached(in))
}

// claimed says that the claim is there that the volume is to be taken from.
func claimed(in input) bool {
	c, o := in.World.Claim, in.Obj.Status.Origin
	return c.Sight == presence.Here && o != nil && c.UID == o.ClaimUID
}

func seen(v Volume) Seen { return Seen{v.Name, v.UID, v.ResourceVersion} }

// mark makes the volume outlive its claim, if all is still as it was found.
func mark(in input) fsm.Decision {
	if d, stop := permitted(in); stop {
		return givenUp(d)
	}
	if d, stop := capturable(in); stop {
		return givenUp(d)
	}
	if d, stop := detachable(in); stop {
		return givenUp(d)
	}
	return do(in, MarkVolume{seen(in.World.Volume), in.Obj.Status.Detached.ReclaimPolicy, *in.Obj.Status.Origin})
}

// take deletes the claim, once the volume outlives it.
func take(in input) fsm.Decision {
	w := in.World
	switch {
	case w.Claim.Deleting && in.Now.Before(w.Claim.DeletedAt.Add(goes)):
		return detaching(in)
	case w.Claim.Deleting:
		return fsm.Wait(ReasonClaimGoing, "claim").In(recheck).
			Because("Waiting for PersistentVolumeClaim %s, which is being deleted, to be gone; stop the pod that uses it, if there is one.", in.Obj.Spec.Target.Name)
	case w.Volume.Deleting, w.Volume.ClaimUID != w.Claim.UID:
		return boundElsewhere(in)
	case !w.Users.Looked:
		return detaching(in)
	case w.Users.Pod != "":
		return fsm.Fire(GaveUp, capturev1.ReasonInUse).Because("%s", usedBy(in))
	case w.Holder.Sight == presence.Other:
		return holderTaken(in)
	case w.Volume.Policy != retain: // somebody changed it meanwhile
		return do(in, MarkVolume{seen(w.Volume), in.Obj.Status.Detached.ReclaimPolicy, *in.Obj.Status.Origin})
	}
	if d, stop := permitted(in); stop { // it may have waited for long
		return givenUp(d)
	}
	return do(in, DeleteClaim{w.Claim.UID, w.Claim.ResourceVersion})
}

func boundElsewhere(in input) fsm.Decision {
	return fsm.Fire(GaveUp, capturev1.ReasonInvalidTarget).
		Because("PersistentVolume %s is being deleted, or is bound to another claim by now.", in.World.Volume.Name)
}

func holderTaken(in input) fsm.Decision {
	return fsm.Fire(GaveUp, capturev1.ReasonNameTaken).
		Because("PersistentVolumeClaim %s, which would hold the volume, exists and is not of this request; make another request.", HolderName(in.Obj.UID))
}

// hold gives the volume to its holder, and then its policy back.
func hold(in input) fsm.Decision {
	v, h, s := in.World.Volume, in.World.Holder, in.Obj.Status
	given := h.Sight == presence.Here && h.UID != "" && v.ClaimUID == h.UID
	switch {
	case !given && v.ClaimUID != s.Origin.ClaimUID: // somebody has it by now
		return boundElsewhere(in)
	case h.Sight == presence.Other:
		return holderTaken(in)
	case h.Sight == presence.Gone:
		return do(in, CreateHolder{in.World.Keeping.UID, seen(v)})
	case h.UID == "":
		return detaching(in)
	case !given:
		return do(in, BindVolume{seen(v), h.UID})
	case !h.Bound:
		return detaching(in)
	}
	return do(in, RestorePolicy{seen(v), v.Mark.Policy})
}

// held says that the volume is bound to its holder, and the holder to it.
func held(in input) bool {
	v, h := in.World.Volume, in.World.Holder
	return v.Sight == presence.Here && v.Mark.By == in.Obj.UID && h.Sight == presence.Here && h.Bound && h.UID != "" && v.ClaimUID == h.UID
}

// unmarked takes the mark back if the claim was not touched. Otherwise the volume stays as it
// is: it keeps its data, and a person must say whose it is.
func unmarked(in input) (d fsm.Decision, stop bool) {
	const awaited = cleaning
	w := in.World
	switch {
	case w.Volume.Sight == "", w.Claim.Sight == "":
		return fsm.Wait(ReasonCleaningUp, "claim", "volume").In(recheck).Because(awaited), true
	case w.Volume.Sight == presence.Here && w.Volume.Mark.By == in.Obj.UID && claimed(in) && !w.Claim.Deleting:
		return fsm.Do(ReasonCleaningUp, UnmarkVolume{seen(w.Volume), w.Volume.Mark.Policy}).Because(awaited), true
	}
	return d, false
}
