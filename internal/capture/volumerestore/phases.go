package volumerestore

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a restore.
const (
	Pending    fsm.Phase = "Pending"
	Preparing  fsm.Phase = "Preparing"
	Restoring  fsm.Phase = "Restoring"
	Rehearsing fsm.Phase = "Rehearsing"
	CleaningUp fsm.Phase = "CleaningUp"
	Succeeded  fsm.Phase = "Succeeded"
	Failed     fsm.Phase = "Failed"
)

// The events of a restore. Those that are reasons are also the reason of the failure.
const (
	Accepted         fsm.Event = "Accepted"                                  // the source can be restored
	Kept             fsm.Event = "Kept"                                      // the keeper is there
	Bound            fsm.Event = "Bound"                                     // the claim holds the volume
	Restored         fsm.Event = "Restored"                                  // the data is in the volume, and shall be tried
	ProbeSucceeded   fsm.Event = "ProbeSucceeded"                            // the probe found what it looked for
	GivenUp          fsm.Event = "GivenUp"                                   // it will never be
	Cleaned          fsm.Event = "Cleaned"                                   // nothing is left of what was begun
	DeadlineExceeded           = fsm.Event(capturev1.ReasonDeadlineExceeded) // it was not done in time
	Forbidden                  = fsm.Event(capturev1.ReasonForbidden)        // an effect was refused, and would be again
	ProbeRefused               = fsm.Event(capturev1.ReasonProbeRefused)     // the Job that looks may not be made
	MadeTooEarly               = fsm.Event(capturev1.ReasonMadeTooEarly)     // nobody checked who made the request
)

// The reasons of waits and effects. Why a request ended is in the API.
const (
	ReasonNotLooked         fsm.Reason = "NotLooked"         // something was not read yet, or not live
	ReasonWaitingForCapture fsm.Reason = "WaitingForCapture" // the capture to restore from is not finished
	ReasonAccepted          fsm.Reason = "Accepted"          // there is something to restore, and it fits
	ReasonKeeping           fsm.Reason = "Keeping"           // the keeper is being made
	ReasonKept              fsm.Reason = "Kept"              // the keeper is there
	ReasonRestoring         fsm.Reason = "Restoring"         // the restorer makes the claim and its volume
	ReasonBound             fsm.Reason = "Bound"             // the claim is bound to the restored volume
	ReasonProbing           fsm.Reason = "Probing"           // the Job of a rehearsal runs
	ReasonCleaning          fsm.Reason = "Cleaning"          // what was made for nothing is being removed
)

// How soon what is awaited is looked at even if nothing wakes us.
const (
	recheck = 30 * time.Second
	glance  = 2 * time.Second // for what nobody watches: Jobs
)

type input = fsm.Input[*capturev1.VolumeRestoreRequest, World]

// ways are the ways out of a phase that may be given up.
func ways(more map[fsm.Event]fsm.Phase) map[fsm.Event]fsm.Phase {
	more[GivenUp], more[DeadlineExceeded] = CleaningUp, CleaningUp
	return more
}

func deadline(in input) time.Time { return request.Deadline(in.Obj, in.Obj.Spec.DeadlineSeconds) }

// Machine is the whole life of a restore.
var Machine = fsm.Machine[*capturev1.VolumeRestoreRequest, World]{
	Kind:    "VolumeRestoreRequest",
	OneShot: true,
	Lost:    lost, LostMessage: "The status was lost after the request had begun; look whether the claim exists, and make another request if it does not.",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "captures", By: fsm.ByWatch},
		{Name: "claims", By: fsm.ByWatch},
		{Name: "keepers", By: fsm.ByWatch},
		{Name: "policies", By: fsm.ByTimer, Every: recheck},
	},
	Rules: fsm.Rules[input]{
		Start:  Pending,
		Groups: []fsm.Group{{Name: "Working", Phases: []fsm.Phase{Pending, Preparing, Restoring, Rehearsing}}},
		Guards: []fsm.Guard[input]{{On: MadeTooEarly, To: CleaningUp, When: isEarly, Say: saysEarly}},
		Holds:  []fsm.Hold[input]{{Reason: capturev1.ReasonPolicyMissing, When: unproven, Wake: "policies", ClockRuns: true}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Looking at what is to be restored: that it exists, is finished, may be restored here, and fits.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     ways(map[fsm.Event]fsm.Phase{Accepted: Preparing}),
				Until:  deadline, Late: DeadlineExceeded,
			},
			Preparing: {
				Doc:    "Making the keeper, which proves from then on that the request has begun.",
				Class:  fsm.Working,
				Decide: decidePreparing,
				On:     ways(map[fsm.Event]fsm.Phase{Kept: Restoring, Forbidden: CleaningUp}),
				Until:  deadline, Late: DeadlineExceeded,
				Fail: map[fsm.ErrorClass]fsm.Event{fsm.Refused: Forbidden},
			},
			Restoring: {
				Doc:    "The restorer beside the CSI driver makes the claim and its volume.",
				Class:  fsm.Working,
				Decide: decideRestoring,
				On:     ways(map[fsm.Event]fsm.Phase{Bound: Succeeded, Restored: Rehearsing}),
				Until:  deadline, Late: DeadlineExceeded,
			},
			Rehearsing: {
				Doc:    "A Job looks at the restored volume.",
				Class:  fsm.Working,
				Decide: decideRehearsing,
				On:     ways(map[fsm.Event]fsm.Phase{ProbeSucceeded: Succeeded, ProbeRefused: CleaningUp}),
				Until:  deadline, Late: DeadlineExceeded,
				Fail: map[fsm.ErrorClass]fsm.Event{fsm.Refused: ProbeRefused},
			},
			CleaningUp: {
				Doc:    "The request is given up: a claim that holds nothing yet is deleted, unless a restore of manifests reserves it; a Job that still runs is ended.",
				Class:  fsm.Working,
				Decide: decideCleaningUp,
				On:     map[fsm.Event]fsm.Phase{Cleaned: Failed, Bound: Succeeded},
			},
			Succeeded: {Doc: "The claim holds what was captured; of a rehearsal, the Job succeeded.", Class: fsm.Done},
			Failed:    {Doc: "Nothing was restored; the reason says why. Another try is another request.", Class: fsm.Failed},
		},
	},
}
