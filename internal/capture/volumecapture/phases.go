package volumecapture

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a capture.
const (
	Pending    fsm.Phase = "Pending"
	Preparing  fsm.Phase = "Preparing"
	Capturing  fsm.Phase = "Capturing"
	Detaching  fsm.Phase = "Detaching"
	CleaningUp fsm.Phase = "CleaningUp"
	Succeeded  fsm.Phase = "Succeeded"
	Failed     fsm.Phase = "Failed"
)

// The events of a capture. Those that the kernel fires are also the reason of the failure.
const (
	Accepted         fsm.Event = "Accepted"                              // the claim can be captured
	Refused          fsm.Event = "Refused"                               // it cannot, and there is nothing to clean up
	SnapshotBegins   fsm.Event = "SnapshotBegins"                        // the keeper is there, and the mode is Snapshot
	DetachBegins     fsm.Event = "DetachBegins"                          // the keeper is there, and the mode is Detach
	Captured         fsm.Event = "Captured"                              // the capture is there
	GaveUp           fsm.Event = "GaveUp"                                // it will never be
	Cleaned          fsm.Event = "Cleaned"                               // what was made is gone, or cleaning up ran out of time
	DeadlineExceeded fsm.Event = "DeadlineExceeded"                      // it was not there in time
	Forbidden        fsm.Event = "Forbidden"                             // an effect was refused, and would be again
	MadeTooEarly               = fsm.Event(capturev1.ReasonMadeTooEarly) // nobody checked who made the request
)

// The reasons of waits and moves; those of ends are in the API package.
const (
	ReasonNotLooked     fsm.Reason = "NotLooked"     // what is needed was not read yet
	ReasonDeleting      fsm.Reason = "Deleting"      // the request itself is being deleted
	ReasonUnbound       fsm.Reason = "Unbound"       // the claim has no volume yet
	ReasonNotServed     fsm.Reason = "NotServed"     // the API server does not serve snapshots
	ReasonTargetValid   fsm.Reason = "TargetValid"   // the claim can be captured
	ReasonPreparing     fsm.Reason = "Preparing"     // the keeper is being made
	ReasonPrepared      fsm.Reason = "Prepared"      // it is there
	ReasonCapturing     fsm.Reason = "Capturing"     // the driver makes the snapshot
	ReasonDriverRetries fsm.Reason = "DriverRetries" // the driver reports an error, and tries again
	ReasonDetaching     fsm.Reason = "Detaching"     // the volume changes hands
	ReasonClaimGoing    fsm.Reason = "ClaimGoing"    // the claim is deleted, and something still holds it
	ReasonCleaningUp    fsm.Reason = "CleaningUp"    // what was made is being deleted
)

type input = fsm.Input[*capturev1.VolumeCaptureRequest, World]

// Machine is the whole of a capture.
var Machine = fsm.Machine[*capturev1.VolumeCaptureRequest, World]{
	Kind:    "VolumeCaptureRequest",
	OneShot: true,
	Lost:    lost, LostMessage: "The status was lost after the work had begun; look whether the capture exists, and make another request if it does not.",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "claim", By: fsm.ByWatch},
		{Name: "volume", By: fsm.ByWatch},
		{Name: "holder", By: fsm.ByWatch},
		{Name: "content", By: fsm.ByWatch},
		{Name: "keeper", By: fsm.ByWatch},
		{Name: "policies", By: fsm.ByTimer, Every: recheck},
	},
	Rules: fsm.Rules[input]{
		Start: Pending,
		Groups: []fsm.Group{
			{Name: "Checking", Phases: []fsm.Phase{Pending, Preparing}},
			{Name: "Making the capture", Phases: []fsm.Phase{Capturing, Detaching}},
		},
		Guards: []fsm.Guard[input]{
			{On: MadeTooEarly, To: Failed, In: []fsm.Phase{Pending, Preparing}, When: isEarly, Say: saysEarly},
			{On: MadeTooEarly, To: Failed, In: []fsm.Phase{Capturing, Detaching}, When: wasNeverBegun, Say: saysEarly},
			{On: MadeTooEarly, To: CleaningUp, In: []fsm.Phase{Capturing, Detaching}, When: isEarly, Say: saysEarly},
		},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonDeleting, When: beingDeleted, Wake: "self"},
			{Reason: capturev1.ReasonPolicyMissing, When: unproven, Wake: "policies", ClockRuns: true},
		},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Looking whether the claim can be captured.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     map[fsm.Event]fsm.Phase{Accepted: Preparing, Refused: Failed, DeadlineExceeded: Failed},
				Until:  deadline,
				Late:   DeadlineExceeded,
			},
			Preparing: {
				Doc:    "Making the keeper, which will own what is made.",
				Class:  fsm.Working,
				Decide: decidePreparing,
				On: map[fsm.Event]fsm.Phase{SnapshotBegins: Capturing, DetachBegins: Detaching, Refused: Failed,
					DeadlineExceeded: Failed, Forbidden: Failed},
				Until: deadline,
				Late:  DeadlineExceeded,
				Fail:  map[fsm.ErrorClass]fsm.Event{fsm.Refused: Forbidden},
			},
			Capturing: {
				Doc:    "The driver makes a snapshot.",
				Class:  fsm.Working,
				Decide: decideCapturing,
				On: map[fsm.Event]fsm.Phase{Captured: Succeeded, GaveUp: CleaningUp, DeadlineExceeded: CleaningUp,
					Forbidden: CleaningUp},
				Until: deadline,
				Late:  DeadlineExceeded,
				Fail:  map[fsm.ErrorClass]fsm.Event{fsm.Refused: Forbidden},
			},
			Detaching: {
				Doc:    "The volume is taken from its claim, and held by a claim in the namespace of the operator, where no other can bind it.",
				Class:  fsm.Working,
				Decide: decideDetaching,
				On:     map[fsm.Event]fsm.Phase{Captured: Succeeded, GaveUp: CleaningUp, DeadlineExceeded: CleaningUp},
				Until:  deadline,
				Late:   DeadlineExceeded,
			},
			CleaningUp: {
				Doc:    "The request has failed; what it made is being deleted.",
				Class:  fsm.Working,
				Decide: decideCleaningUp,
				On:     map[fsm.Event]fsm.Phase{Cleaned: Failed},
			},
			Succeeded: {Doc: "The capture is there; status.artifactRef names it.", Class: fsm.Done},
			Failed:    {Doc: "There is no capture; the reason says why.", Class: fsm.Failed},
		},
	},
}

// Ended says that nothing will ever be done about a request again.
func Ended(r *capturev1.VolumeCaptureRequest) bool {
	return r.Status.Phase == Succeeded || r.Status.Phase == Failed
}

func deadline(in input) time.Time { return request.Deadline(in.Obj, in.Obj.Spec.DeadlineSeconds) }

// beingDeleted holds a request that is on its way out: its keeper sees to what it made.
func beingDeleted(in input) (string, bool) {
	return "The request is being deleted; its ObjectKeeper decides for how long the capture stays.", in.Obj.DeletionTimestamp != nil
}
