package volumecapture

import (
	"strings"
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// recheck is how soon what is awaited is looked at even if nothing wakes us.
const recheck = 30 * time.Second

// barrier is how soon an object is looked at again whose UID is not known.
const barrier = time.Second

func decidePending(in input) fsm.Decision {
	if in.World.Keeping.Sight == presence.Other {
		return keeperTaken(in)
	}
	if d, stop := permitted(in); stop {
		return d
	}
	if why, message, refused := in.World.Limits.Refusal(in.Obj.Namespace, in.Obj.Spec.RetainAfterDeletion); refused {
		return fsm.Fire(Refused, why).Because("%s", message)
	}
	if d, stop := capturable(in); stop {
		return d
	}
	if d, stop := detachable(in); stop {
		return d
	}
	return fsm.Fire(Accepted, ReasonTargetValid)
}

func keeperTaken(in input) fsm.Decision {
	return fsm.Fire(Refused, capturev1.ReasonNameTaken).
		Because("ObjectKeeper %s exists and does not follow this request; make another request.", request.KeeperName(in.Obj.UID))
}

// capturable says what is wrong with the claim, or what is missing; stop is false if nothing is.
func capturable(in input) (d fsm.Decision, stop bool) {
	w, name := in.World, in.Obj.Spec.Target.Name
	switch origin := in.Obj.Status.Origin; {
	case w.Claim.Sight == "":
		return notLooked(in), true
	case w.Claim.Why == presence.Forbidden || w.Volume.Why == presence.Forbidden:
		return fsm.Fire(Refused, capturev1.ReasonForbidden).Because("The manager may not read PersistentVolumeClaim %s, or its volume; "+grant, name), true
	case w.Claim.Sight == presence.Gone:
		return fsm.Fire(Refused, capturev1.ReasonNotFound).Because("PersistentVolumeClaim %s does not exist.", target(in)), true
	case origin != nil && origin.ClaimUID != w.Claim.UID:
		return fsm.Fire(Refused, capturev1.ReasonNotFound).Because("PersistentVolumeClaim %s was deleted, and another has its name; make another request to capture that one.", name), true
	case !w.Claim.Bound:
		return fsm.Wait(ReasonUnbound, "claim").In(recheck).Because("Waiting for PersistentVolumeClaim %s to be bound to a volume.", name), true
	case w.Volume.Driver == "":
		return fsm.Fire(Refused, capturev1.ReasonInvalidTarget).
			Because("PersistentVolume %s is not of a CSI driver, so it cannot be captured.", w.Volume.Name), true
	}
	return classified(in)
}

func target(in input) string {
	t := in.Obj.Spec.Target
	if t.UID != "" {
		return t.Name + " with UID " + string(t.UID)
	}
	return t.Name
}

// classified says what is wrong with the class of the snapshot.
func classified(in input) (d fsm.Decision, stop bool) {
	if in.Obj.Spec.Mode == capturev1.Detach {
		return d, false
	}
	driver, c := in.World.Volume.Driver, in.World.Class
	switch c.Sight {
	case ClassFound:
		return d, false
	case ClassMissing:
		if name := in.Obj.Spec.VolumeSnapshotClassName; name != "" {
			return fsm.Fire(Refused, capturev1.ReasonNotFound).Because("VolumeSnapshotClass %s does not exist; create it, or name another one, and make another request.", name), true
		}
		return fsm.Fire(Refused, capturev1.ReasonNotFound).Because("There is no VolumeSnapshotClass for driver %s; create one, and make another request.", driver), true
	case ClassAmbiguous:
		return fsm.Fire(Refused, capturev1.ReasonInvalidTarget).
			Because("Driver %s has several VolumeSnapshotClasses and no default; name one in spec.volumeSnapshotClassName of another request.", driver), true
	case ClassOfAnother:
		return fsm.Fire(Refused, capturev1.ReasonInvalidTarget).
			Because("VolumeSnapshotClass %s is not of driver %s, which has the volume; name one of that driver in another request.", in.Obj.Spec.VolumeSnapshotClassName, driver), true
	case ClassNonsensical:
		return fsm.Fire(Refused, capturev1.ReasonInvalidTarget).
			Because("VolumeSnapshotClass %s names a secret by variables that do not exist; correct the class, and make another request.", c.Name), true
	case ClassUnreadable:
		return fsm.Fire(Refused, capturev1.ReasonForbidden).Because("The manager may not read VolumeSnapshotClasses; " + grant), true
	case ClassUnserved:
		return notServed(), true
	}
	return notLooked(in), true
}

// grant is what a person can do about rights that the manager lacks.
const grant = "grant it the ClusterRole of area capture, and make another request."

// cleaning says the same of every step, and of the waits between them: other words would be another write.
const cleaning = "The manager removes what the request had made."

func notServed() fsm.Decision {
	return fsm.Wait(ReasonNotServed, "content").In(recheck).
		Because("Waiting for the API server to serve snapshot.storage.k8s.io/v1; install the CRDs of external-snapshotter.")
}

func notLooked(in input) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, "claim").In(recheck).Because("Waiting for the manager to read PersistentVolumeClaim %s.", in.Obj.Spec.Target.Name)
}

func decidePreparing(in input) fsm.Decision {
	const awaited = "Waiting for the ObjectKeeper of the request, which will own the capture."
	k := in.World.Keeping
	if k.Sight == presence.Other {
		return keeperTaken(in)
	}
	if d, stop := permitted(in); stop { // the keeper says that the request was accepted
		return d
	}
	switch {
	case k.Sight == presence.Gone && k.Namespace != "":
		return fsm.Do(ReasonPreparing, CreateKeeper{k.Namespace}).Because(awaited)
	case k.Sight != presence.Here || k.UID == "": // nothing is ever owned by nobody
		return fsm.Wait(ReasonPreparing, "keeper").In(barrier).Because(awaited)
	case in.Obj.Spec.Mode == capturev1.Detach:
		return fsm.Fire(DetachBegins, ReasonPrepared)
	}
	return fsm.Fire(SnapshotBegins, ReasonPrepared)
}

// decideCapturing waits with the same words before the content is made and after: other
// words would be another write.
func decideCapturing(in input) fsm.Decision {
	if d, stop := snapshottable(in); stop {
		return d
	}
	switch c := in.World.Content; {
	case c.Sight == presence.Gone:
		return snapshot(in)
	case c.Why == presence.Unserved:
		return notServed()
	case c.Sight != presence.Here:
		return capturing(in)
	case c.Deleting:
		return artifactLost()
	case c.Ready && c.Handle != "":
		return fsm.Fire(Captured, capturev1.ReasonCompleted).Because("VolumeSnapshotContent %s is the capture.", ContentName(in.Obj.UID))
	case c.Error != "" && in.Obj.Spec.OnTransientError == capturev1.FailAtOnce:
		return fsm.Fire(GaveUp, capturev1.ReasonDriverError).Because("%s", driverSays(c))
	case c.Error != "":
		return fsm.Wait(ReasonDriverRetries, "content").In(recheck).
			Because("Waiting for the CSI driver, which reports an error and tries again; status.error of VolumeSnapshotContent %s has it.", ContentName(in.Obj.UID)).
			OrLate(fsm.Verdict{Message: captured(in) + " " + driverSays(c)})
	}
	return capturing(in)
}

// driverSays repeats an error, which may change from try to try: it is for the end of a request only.
func driverSays(c Content) string {
	return "The CSI driver says: " + strings.TrimRight(c.Error, ". \n") + "."
}

func artifactLost() fsm.Decision {
	return fsm.Fire(GaveUp, capturev1.ReasonArtifactLost).
		Because("What the request had made, or its ObjectKeeper, was deleted by somebody else; make another request.")
}

// snapshottable says what keeps the content from being made.
func snapshottable(in input) (d fsm.Decision, stop bool) {
	switch c := in.World.Content; {
	case c.Sight == presence.Other:
		return fsm.Fire(GaveUp, capturev1.ReasonNameTaken).
			Because("VolumeSnapshotContent %s exists and is not of this request; make another request.", ContentName(in.Obj.UID)), true
	case c.Why == presence.Forbidden:
		return fsm.Fire(GaveUp, capturev1.ReasonForbidden).Because("The manager may not read VolumeSnapshotContents; " + grant), true
	}
	return d, false
}

// outdated says that the request is not known to be where it is believed to be. A content
// that is missing may have been made and deleted since.
func outdated(in input) bool { return in.World.Self != in.Obj.Status.Phase }

func capturing(in input) fsm.Decision {
	return fsm.Wait(ReasonCapturing, "content").In(recheck).Because("%s", captured(in))
}

func captured(in input) string {
	return "Waiting for VolumeSnapshotContent " + ContentName(in.Obj.UID) + " to be ready to use."
}

// snapshot makes the content. The claim is looked at once more: what was true when the
// request was prepared may be no longer.
func snapshot(in input) fsm.Decision {
	w := in.World
	switch k := w.Keeping; {
	case k.Sight == presence.Gone, k.Sight == presence.Other:
		return artifactLost()
	case k.Sight != presence.Here || k.UID == "" || outdated(in):
		return fsm.Wait(ReasonCapturing, "keeper").In(barrier).Because("%s", captured(in))
	}
	if d, stop := capturable(in); stop {
		return givenUp(d)
	}
	if in.Obj.Status.Origin == nil {
		return fsm.Save(ReasonCapturing).Because("%s", captured(in))
	}
	return fsm.Do(ReasonCapturing, CreateContent{
		Keeper: w.Keeping.UID, Driver: w.Volume.Driver, Handle: w.Volume.Handle, Mode: w.Volume.Mode,
		Class: w.Class.Name, Secret: w.Class.Secret, Origin: *in.Obj.Status.Origin,
	}).Because("%s", captured(in))
}

// givenUp is a refusal by someone who is not sure that nothing was made: while he looked,
// another leader may have acted. Cleaning up looks again.
func givenUp(d fsm.Decision) fsm.Decision {
	if d.On == Refused {
		d.On = GaveUp
	}
	return d
}

// decideCleaningUp deletes what was made, and then ends for the reason that it was given up for; for that reason
// also if it cannot be deleted, or seen, for long.
func decideCleaningUp(in input) fsm.Decision {
	d, v := cleaningUp(in), in.Obj.Status.Failure
	if v == nil {
		return d
	}
	return request.CleanInTime(d, in.Obj.Status.Place, in.Now, fsm.Fire(Cleaned, v.Reason).Because("%s", v.Message))
}

func cleaningUp(in input) fsm.Decision {
	const awaited = cleaning
	failure := in.Obj.Status.Failure
	if failure == nil { // in the pass that gave up, or with a status that was lost
		return fsm.Save(ReasonCleaningUp).Because(awaited)
	}
	if in.Obj.Spec.Mode == capturev1.Detach {
		if d, stop := unmarked(in); stop {
			return d
		}
	} else {
		switch c := in.World.Content; {
		case c.Sight == presence.Here && !c.Deleting:
			return fsm.Do(ReasonCleaningUp, DeleteContent{c.UID, c.ResourceVersion}).Because(awaited)
		case c.Sight != presence.Here && c.Sight != presence.Gone && c.Sight != presence.Other:
			return fsm.Wait(ReasonCleaningUp, "content").In(recheck).Because(awaited)
		}
	}
	return fsm.Fire(Cleaned, failure.Reason).Because("%s", failure.Message)
}

// lost: what was begun is judged by what it made, and never begun again. Of a keeper alone
// nobody knows whether something was made and deleted.
func lost(in input) (fsm.Phase, bool) {
	w := in.World
	switch {
	case w.Keeping.Sight != presence.Here:
		return Failed, false
	case in.Obj.Spec.Mode == capturev1.Detach && w.Volume.Mark.By == in.Obj.UID:
		return Detaching, true
	case in.Obj.Spec.Mode != capturev1.Detach && w.Content.Sight == presence.Here && !w.Content.Deleting:
		return Capturing, true
	}
	return Failed, true
}
