package manifestrestore

import (
	"slices"
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const recheck = 30 * time.Second

// notLooked waits while something was not read, which is no evidence of anything.
func notLooked(wake, what string) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, wake).In(recheck).Because("Waiting for the manager to read %s.", what)
}

func decidePending(in input) fsm.Decision {
	switch {
	case in.World.Keeping.Sight == "":
		return notLooked("keeper", "the ObjectKeeper of the request")
	case expired(in):
		return expire(in)
	}
	if d, stops := permitted(in); stops {
		return d
	}
	return fsm.Fire(Accepted, ReasonPreparing)
}

// expired says that the request is too old to be begun. The keeper proves that it was.
func expired(in input) bool {
	at := in.Obj.Spec.NotAfter
	return at != nil && !in.Now.Before(at.Time) && in.World.Keeping.Sight == presence.Gone
}

func expire(in input) fsm.Decision {
	return fsm.Fire(Expired, capturev1.ReasonExpired).Because(
		"The restore was not begun before %s; make another request if it is still wanted.", in.Obj.Spec.NotAfter.UTC().Format(time.RFC3339))
}

func decidePreparing(in input) fsm.Decision {
	k := in.World.Keeping
	switch {
	case k.Sight == presence.Other:
		return fsm.Fire(Refused, capturev1.ReasonNameTaken).Because("ObjectKeeper %s exists and does not follow this request; make another request.", request.KeeperName(in.Obj.UID))
	case k.Sight == presence.Gone && expired(in):
		return expire(in)
	}
	if d, stops := permitted(in); stops { // who may not restore a source is not told whether there is one
		return d
	}
	switch {
	case k.Sight == presence.Here:
		return decideSource(in)
	case k.Sight == presence.Gone && k.Namespace != "":
		return fsm.Do(ReasonPreparing, CreateKeeper{k.Namespace}).
			Because("Waiting for the ObjectKeeper of the request, which proves that the restore has begun.")
	}
	return notLooked("keeper", "the ObjectKeeper of the request")
}

// decideSource judges what to restore from.
func decideSource(in input) fsm.Decision {
	refuse := func(why fsm.Reason, format string) fsm.Decision {
		return fsm.Fire(Refused, why).Because(format, sourceName(in.Obj))
	}
	switch in.World.Source.Sight {
	case Found:
		return fsm.Fire(Prepared, ReasonPrepared)
	case Unfinished:
		return fsm.Wait(ReasonWaitingForSource, "source").In(recheck).Because("Waiting for %s to end.", sourceName(in.Obj))
	case Unusable:
		return refuse(capturev1.ReasonSourceNotReady, "%s failed, so there is nothing to restore from.")
	case Absent:
		return refuse(capturev1.ReasonNotFound, "%s does not exist."+retained(in.Obj))
	case Foreign:
		return refuse(capturev1.ReasonInvalidTarget, "%s names a checkpoint that is not its own.")
	case Privileged:
		return fsm.Fire(Refused, capturev1.ReasonForbidden).Because("Nothing is restored into the operator's own namespace, because the account that would do it is the manager's own.")
	}
	return notLooked("source", sourceName(in.Obj))
}

// retained is what is left to do if a capture is gone.
func retained(r *capturev1.ManifestRestoreRequest) string {
	if r.Spec.Source.ManifestCaptureRequest == nil {
		return ""
	}
	return " If its ManifestCheckpoint was retained, statecraft-captures list shows it; name that in source.checkpoint of another request."
}

func sourceName(r *capturev1.ManifestRestoreRequest) string {
	if c := r.Spec.Source.Checkpoint; c != nil {
		return "ManifestCheckpoint " + c.Name
	}
	ref := r.Spec.Source.ManifestCaptureRequest
	if ref == nil {
		return "The source"
	}
	if ref.Namespace != "" && ref.Namespace != r.Namespace {
		return "ManifestCaptureRequest " + ref.Namespace + "/" + ref.Name
	}
	return "ManifestCaptureRequest " + ref.Name
}

var working = map[Stage]string{
	Plan:  "Waiting for the manager to read the checkpoint, and to look which of its names are taken.",
	Apply: "Waiting for the manager to write the objects.",
	Look:  "Waiting for the manager to look whether everything was restored.",
}

// work begins the job of a stage, or waits for it. Both say the same: other words would be
// another write.
func work(in input, stage Stage, why fsm.Reason) fsm.Decision {
	if w := in.World.Work; w.Stage == stage && w.State == Running {
		return fsm.Wait(why, "work").Because("%s", working[stage])
	}
	if in.World.Keeping.Sight != presence.Here {
		return notLooked("keeper", "the ObjectKeeper of the request")
	}
	return fsm.Do(why, Begin{stage, in.World.Keeping.UID}).Because("%s", working[stage])
}

// keeperLost ends a request that has no keeper, though it says that it was begun.
func keeperLost(on fsm.Event) fsm.Decision {
	return fsm.Fire(on, capturev1.ReasonArtifactLost).Because(request.LostMessage)
}

func decidePlanning(in input) fsm.Decision {
	r, ended := in.World.Work.ended(Plan)
	switch {
	case in.World.Keeping.Lost():
		return keeperLost(Refused)
	case !ended:
		return work(in, Plan, ReasonPlanning)
	}
	if why, message := obstacle(in.Obj.Spec, r); why != "" {
		return fsm.Fire(Refused, why).Because("%s", message)
	}
	switch {
	case !in.Obj.Spec.DryRun:
		return fsm.Fire(Planned, ReasonPlanned)
	case r.complete():
		return fsm.Fire(Rehearsed, capturev1.ReasonCompleted).Because("%s", unwritten(in.Obj.Spec, r))
	}
	return fsm.Fire(Refused, capturev1.ReasonPartiallyRestored).Because("%s", unwritten(in.Obj.Spec, r))
}

// obstacle is why nothing is written at all: with policy Fail a name that is taken or a kind
// that is not served, and always what the whole restore needs. A dry run is judged alike, so
// it does not count here what only a write can be refused for.
func obstacle(spec capturev1.ManifestRestoreRequestSpec, r *Report) (meta.Reason, string) {
	switch {
	case r.Refusal != "":
		return r.Refusal, r.Message
	case r.Blind > 0:
		return capturev1.ReasonForbidden, unwritten(spec, r)
	case spec.ConflictPolicy != capturev1.ConflictFail:
		return "", ""
	case r.Reasons[capturev1.ReasonConflict] > 0:
		return capturev1.ReasonConflict, unwritten(spec, r)
	case r.Reasons[ReasonUnserved] > 0:
		return capturev1.ReasonInvalidTarget, unwritten(spec, r)
	}
	return "", ""
}

// decideApplying goes on whatever became of single objects: that is for Verifying to judge,
// which looks at all of them once more.
func decideApplying(in input) fsm.Decision {
	r, ended := in.World.Work.ended(Apply)
	switch {
	case in.World.Keeping.Lost():
		return keeperLost(Broken)
	case !ended:
		return work(in, Apply, ReasonApplying)
	case r.Refusal != "":
		return fsm.Fire(Broken, r.Refusal).Because("%s", broken(r))
	case r.Awaits != "":
		return awaitClaims(in)
	}
	return fsm.Fire(Applied, ReasonApplied)
}

// claimsWithin is how soon claims are looked at again: the requests that make them say no word
// when they have.
const claimsWithin = time.Second

// awaitClaims: what may use volumes is written once the claims are there. Whether these have
// their volumes yet does not matter; some get theirs only when a pod wants it.
func awaitClaims(in input) fsm.Decision {
	switch v := in.World.Volumes; {
	case !v.Listed:
		return notLooked("volumes", "the VolumeRestoreRequests of the restore")
	case v.Unmade != "":
		return fsm.Wait(ReasonWaitingForVolumes, "volumes").In(claimsWithin).Because("Waiting for VolumeRestoreRequest %s to make its claim.", v.Unmade)
	}
	return work(in, Apply, ReasonApplying)
}

func decideVerifying(in input) fsm.Decision {
	switch v := in.World.Volumes; {
	case in.World.Keeping.Lost():
		return keeperLost(Broken)
	case !v.Listed:
		return notLooked("volumes", "the VolumeRestoreRequests of the restore")
	case v.Unsettled != "":
		return fsm.Wait(ReasonWaitingForVolumes, "volumes").In(recheck).Because("Waiting for VolumeRestoreRequest %s to end.", v.Unsettled)
	}
	if sight := in.World.Source.Sight; in.Obj.Status.CheckpointRef == nil && sight != Found {
		return withoutSource(in, sight)
	}
	r, ended := in.World.Work.ended(Look)
	switch {
	case !ended:
		return work(in, Look, ReasonVerifying)
	case r.Refusal != "":
		return fsm.Fire(Broken, r.Refusal).Because("%s", r.Message)
	case r.complete():
		return fsm.Fire(Verified, capturev1.ReasonCompleted).Because("%s", summary(r))
	}
	return fsm.Fire(Lacking, lacks(in, r)).Because("%s", summary(r))
}

// withoutSource: the status was lost, and with it which checkpoint was restored.
func withoutSource(in input, sight SourceSight) fsm.Decision {
	if sight == "" {
		return notLooked("source", sourceName(in.Obj))
	}
	return fsm.Fire(Lacking, ReasonStatusLost).Because("The status was lost, and %s cannot be read any more, so the manager cannot tell what was restored.", sourceName(in.Obj))
}

// lacks is why not everything is there.
func lacks(in input, r *Report) meta.Reason {
	switch {
	case wasLost(in.Obj):
		return ReasonStatusLost
	case !r.wrote() && r.Reasons[capturev1.ReasonConflict] > 0:
		return capturev1.ReasonConflict
	}
	return capturev1.ReasonPartiallyRestored
}

// wasLost says that the status was lost: the history says so, and until that is saved the
// lack of what Planning has written.
func wasLost(r *capturev1.ManifestRestoreRequest) bool {
	return r.Status.CheckpointRef == nil ||
		slices.ContainsFunc(r.Status.History, func(t meta.Transition) bool { return t.Event == fsm.Lost })
}

// decideCleaningUp looks at what was written before time ran out. If that is everything, the
// restore succeeded after all.
func decideCleaningUp(in input) fsm.Decision {
	move, _ := in.Obj.Status.LastMove(CleaningUp)
	late := fsm.Fire(DeadlineExceeded, capturev1.ReasonDeadlineExceeded).Because("%s", move.Message)
	if wasLost(in.Obj) && !in.Obj.Spec.DryRun {
		late.Reason = ReasonStatusLost
	}
	if in.Obj.Spec.DryRun || in.Obj.Status.CheckpointRef == nil {
		return late
	}
	r, ended := in.World.Work.ended(Look)
	switch {
	case in.World.Keeping.Lost():
		return late
	case !ended:
		return work(in, Look, capturev1.ReasonDeadlineExceeded)
	case r.Refusal == "" && r.complete():
		return fsm.Fire(Verified, capturev1.ReasonCompleted).Because("%s", summary(r))
	case r.Refusal == "":
		return late.Because("%s", summary(r))
	}
	return late
}
