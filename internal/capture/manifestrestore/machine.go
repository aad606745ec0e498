package manifestrestore

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// looksFor is how long a restore that ran out of time may look at what it has written.
const looksFor = 10 * time.Minute

type input = fsm.Input[*capturev1.ManifestRestoreRequest, World]

// Machine is the whole procedure. At least it writes the keeper, each object once, and the
// status five times: on the way into Preparing, Planning, Applying and Verifying, and at
// the end. A dry run writes the keeper and the status three times.
var Machine = fsm.Machine[*capturev1.ManifestRestoreRequest, World]{
	Kind:    "ManifestRestoreRequest",
	OneShot: true,
	Lost:    lost,
	Report:  report,
	Wakes: []fsm.Wake{
		{Name: "work", By: fsm.ByWorker},
		{Name: "source", By: fsm.ByWatch},
		{Name: "volumes", By: fsm.ByWatch},
		{Name: "keeper", By: fsm.ByTimer, Every: recheck},
		{Name: "policies", By: fsm.ByTimer, Every: recheck},
	},
	Rules: fsm.Rules[input]{
		Start: Pending,
		Groups: []fsm.Group{
			{Name: "Checking", Phases: []fsm.Phase{Pending, Preparing}},
			{Name: "Restoring", Phases: []fsm.Phase{Planning, Applying, Verifying}},
		},
		Guards: []fsm.Guard[input]{{On: MadeTooEarly, To: Failed, When: isEarly, Say: saysEarly}},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonDeleting, When: beingDeleted, Wake: "self"},
			{Reason: capturev1.ReasonPolicyMissing, When: unproven, Wake: "policies", ClockRuns: true},
		},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "The request was seen; it is begun if it is not too old, and its requester may restore the source.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     map[fsm.Event]fsm.Phase{Accepted: Preparing, Refused: Failed, Expired: Failed, DeadlineExceeded: Failed},
				Until:  deadline, Late: DeadlineExceeded,
			},
			Preparing: {
				Doc:    "Making the keeper, which proves that the request was begun, and finding the checkpoint.",
				Class:  fsm.Working,
				Decide: decidePreparing,
				On:     map[fsm.Event]fsm.Phase{Prepared: Planning, Expired: Failed, Refused: Failed, Forbidden: Failed, DeadlineExceeded: Failed},
				Until:  deadline, Late: DeadlineExceeded,
				Fail: map[fsm.ErrorClass]fsm.Event{fsm.Refused: Forbidden},
			},
			Planning: {
				Doc:    "Reading the checkpoint and looking at every name. Nothing is written; a dry run ends here.",
				Class:  fsm.Working,
				Decide: decidePlanning,
				On:     map[fsm.Event]fsm.Phase{Planned: Applying, Rehearsed: Succeeded, Refused: Failed, DeadlineExceeded: CleaningUp},
				Until:  deadline, Late: DeadlineExceeded,
			},
			Applying: {
				Doc:    "Writing the objects, owners before owned.",
				Class:  fsm.Working,
				Decide: decideApplying,
				On:     map[fsm.Event]fsm.Phase{Applied: Verifying, Broken: Failed, DeadlineExceeded: CleaningUp},
				Until:  deadline, Late: DeadlineExceeded,
			},
			Verifying: {
				Doc:    "Waiting for volumes, and looking whether everything is there.",
				Class:  fsm.Working,
				Decide: decideVerifying,
				On:     map[fsm.Event]fsm.Phase{Verified: Succeeded, Lacking: Failed, Broken: Failed, DeadlineExceeded: CleaningUp},
				Until:  deadline, Late: DeadlineExceeded,
			},
			CleaningUp: {
				Doc:    "Out of time: nothing more is written, and what was written is looked at. It is not undone.",
				Class:  fsm.Working,
				Decide: decideCleaningUp,
				On:     map[fsm.Event]fsm.Phase{Verified: Succeeded, DeadlineExceeded: Failed},
				Within: looksFor, Late: DeadlineExceeded,
			},
			Succeeded: {Doc: "Everything was restored, or skipped as the request asked.", Class: fsm.Done},
			Failed:    {Doc: "Not everything was restored; the results say what was.", Class: fsm.Failed},
		},
	},
}

func deadline(in input) time.Time { return request.Deadline(in.Obj, in.Obj.Spec.DeadlineSeconds) }

func beingDeleted(in input) (string, bool) {
	return "The request is being deleted; what it has restored stays.", in.Obj.DeletionTimestamp != nil
}

// lost: the keeper outlives the status, and proves that the request was begun. What was
// begun is not begun again, or objects that were deleted since would come back; only what
// is there counts. A dry run changes nothing, so that one may.
func lost(in input) (fsm.Phase, bool) {
	return Verifying, in.World.Keeping.Sight == presence.Here && !in.Obj.Spec.DryRun
}
