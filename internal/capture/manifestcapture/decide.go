package manifestcapture

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const (
	// recheck is how soon what is awaited is looked at even if nothing wakes us.
	recheck = 5 * time.Second
	// glance is how soon an effect is looked at that has been answered.
	glance = 10 * time.Millisecond
)

// notLooked waits while something was not read, which is no evidence of anything.
func notLooked() fsm.Decision {
	return fsm.Wait(ReasonNotLooked, "api").In(recheck).Because("Waiting for the manager to read what the request needs and what it has made.")
}

// What is said before work is begun and while it runs: other words would be another write.
const (
	reading     = "Waiting for the manager to read all objects."
	writing     = "Waiting for the manager to write the chunks and the checkpoint."
	readingBack = "Waiting for the manager to read the chunks back."
)

func refuse(why fsm.Reason, format string, args ...any) fsm.Decision {
	return fsm.Fire(Refused, why).Because(format, args...)
}

func decidePending(in input) fsm.Decision {
	if in.World.Keeping.Sight == "" {
		return notLooked()
	}
	if d, stops := permitted(in); stops {
		return d
	}
	if why, message, refused := in.World.Limits.Refusal(in.Obj.Namespace, in.Obj.Spec.RetainAfterDeletion); refused {
		return refuse(why, "%s", message)
	}
	return fsm.Fire(Begun, ReasonBegun)
}

func decidePreparing(in input) fsm.Decision {
	w := in.World
	if d, stops := permitted(in); stops {
		return d
	}
	switch w.Keeping.Sight {
	case presence.Gone:
		return fsm.Do(ReasonMakingKeeper, CreateKeeper{w.Keeping.Namespace}).In(glance).Because("Waiting for the ObjectKeeper of the request, which will own the checkpoint.")
	case presence.Other:
		return refuse(capturev1.ReasonNameTaken, "ObjectKeeper %s exists and does not follow this request; make another request.", request.KeeperName(in.Obj.UID))
	case presence.Here:
	default:
		return notLooked()
	}
	if w.Held == nil {
		return notLooked()
	}
	if over := w.Budget.Refuse(in.Obj.Namespace, *w.Held, 0); over != nil {
		return judged(over)
	}
	if d, stops := decideVolumes(in); stops {
		return d
	}
	if d, stops := decideKeys(in); stops {
		return d
	}
	if w.Moment == "" {
		return notLooked()
	}
	return fsm.Fire(Chosen, ReasonMomentChosen)
}

// decideKeys looks for the key by which Secrets are encrypted.
func decideKeys(in input) (d fsm.Decision, stops bool) {
	if !in.Obj.Spec.IncludeSecrets {
		return d, false
	}
	switch in.World.Keys {
	case KeysUsable:
		return d, false
	case KeysMissing:
		return refuse(capturev1.ReasonKeyMissing, "Secrets are only captured encrypted, and there is no key; create Secret statecraft-capture-keys in the operator's namespace, with an entry of 32 bytes and the entry active, which names it."), true
	case KeysInvalid:
		return refuse(capturev1.ReasonKeyMissing, "Secrets are only captured encrypted, and Secret statecraft-capture-keys of the operator's namespace is not valid; it needs an entry of 32 bytes, and the entry active, which names it."), true
	}
	return notLooked(), true
}

// decideVolumes looks at the captures that volumes names: a claim whose data was not captured
// would come back empty.
func decideVolumes(in input) (d fsm.Decision, stops bool) {
	for _, v := range in.Obj.Spec.Volumes {
		if v.Empty {
			continue
		}
		name := v.VolumeCaptureRequest
		switch in.World.Volumes[v.Claim] {
		case VolumeReady:
		case VolumePending:
			return fsm.Wait(ReasonAwaitingVolumes, "volumes").In(recheck).Because("Waiting for VolumeCaptureRequest %s to be Ready.", name), true
		case VolumeMissing:
			return refuse(capturev1.ReasonVolumeNotCaptured, "VolumeCaptureRequest %s of claim %s does not exist; create it, and make another request.", name, v.Claim), true
		case VolumeFailed:
			return refuse(capturev1.ReasonVolumeNotCaptured, "VolumeCaptureRequest %s of claim %s has failed; capture the volume again, and make another request.", name, v.Claim), true
		case VolumeOther:
			return refuse(capturev1.ReasonVolumeNotCaptured, "VolumeCaptureRequest %s captures another claim than %s; correct spec.volumes in another request.", name, v.Claim), true
		default:
			return notLooked(), true
		}
	}
	return fsm.Decision{}, false
}

func decideReading(in input) fsm.Decision {
	work, moment := in.World.on(TaskRead), in.Obj.Status.ResourceVersion
	if d, stops := decideWork(in, work); stops {
		return d
	}
	switch {
	case moment == "": // somebody took it away
		return another(in)
	case work.State == Running:
		return fsm.Wait(ReasonReading, "work").In(patience).Because(reading)
	case work.State == Ended && work.Found != nil:
		return fsm.Fire(Read, ReasonEverythingRead)
	}
	return fsm.Do(ReasonReading, StartReading{moment}).In(patience).Because(reading)
}

// patience is how long work goes on that nobody asks about: it wakes us when it ends.
const patience = time.Minute

// decideWork ends a request whose work can never succeed, or lets it choose another moment.
func decideWork(in input, work Work) (d fsm.Decision, stops bool) {
	switch {
	case in.World.Keeping.Sight == presence.Gone || in.World.Keeping.Sight == presence.Other:
		return refuse(capturev1.ReasonArtifactLost, "The ObjectKeeper of the request was deleted, and with it all that the request had made; make another request."), true
	case in.World.Keeping.Sight == "":
		return notLooked(), true
	case work.Verdict != nil:
		return judged(work.Verdict), true
	case work.Expired:
		return another(in), true
	}
	return d, false
}

func judged(v *manifest.Refusal) fsm.Decision { return refuse(v.Reason, "%s", v.Message) }

// another chooses another moment: all is read anew.
func another(in input) fsm.Decision {
	if in.World.Moment == "" || in.World.Moment == in.Obj.Status.ResourceVersion {
		return notLooked()
	}
	return fsm.Save(ReasonMomentLost).Because("The API server no longer has the objects as they were at the chosen moment; the manager reads all of them again, at a later one.")
}

func decideWriting(in input) fsm.Decision {
	w, work, moment := in.World, in.World.on(TaskWrite), in.Obj.Status.ResourceVersion
	switch w.Checkpoint.Sight {
	case presence.Here:
		return fsm.Fire(Committed, ReasonCheckpointWritten)
	case presence.Other:
		return refuse(capturev1.ReasonNameTaken, "Another object has the name of the request's checkpoint; make another request.")
	case presence.Gone:
	default:
		return notLooked()
	}
	if d, stops := decideWork(in, work); stops {
		return d
	}
	switch {
	case moment == "":
		return another(in)
	case work.State == Running:
		return fsm.Wait(ReasonWriting, "work").In(patience).Because(writing)
	case work.State == Ended: // it was written, and is not there
		return refuse(capturev1.ReasonArtifactLost, "The checkpoint was deleted before it was verified; make another request.")
	}
	return fsm.Do(ReasonWriting, StartWriting{moment, w.Keeping.UID}).In(patience).Because(writing)
}

func decideVerifying(in input) fsm.Decision {
	w, work := in.World, review(in)
	if d, stops := decideWork(in, work); stops {
		return d
	}
	switch w.Checkpoint.Sight {
	case presence.Here:
	case presence.Gone, presence.Other:
		return refuse(capturev1.ReasonArtifactLost, "The checkpoint was deleted before it was verified; make another request.")
	default:
		return notLooked()
	}
	switch {
	case work.State == Running:
		return fsm.Wait(ReasonVerifying, "work").In(patience).Because(readingBack)
	case work.State == Ended && work.Checked != nil && *work.Checked == w.Checkpoint.Expected:
		return fsm.Fire(Verified, capturev1.ReasonCompleted).Because("%d objects were captured and read back.%s", *work.Checked, leftOut(w.Checkpoint.Skipped))
	case work.State == Ended && work.Checked != nil:
		return refuse(capturev1.ReasonIncomplete, "%d objects were read back, but %d were captured; make another request.", *work.Checked, w.Checkpoint.Expected)
	}
	start := StartVerifying{w.Checkpoint.ResourceVersion, w.Checkpoint.UID, w.Keeping.UID}
	return fsm.Do(ReasonVerifying, start).In(patience).Because(readingBack)
}

// lost: a request that has begun and forgot so is not begun again. What it has committed
// can still be verified.
func lost(in input) (fsm.Phase, bool) {
	if in.World.Keeping.Sight != presence.Here {
		return "", false
	}
	if in.World.Checkpoint.Sight == presence.Here {
		return Verifying, true
	}
	return CleaningUp, true
}
