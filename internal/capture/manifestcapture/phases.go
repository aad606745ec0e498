package manifestcapture

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
	Reading    fsm.Phase = "Reading"
	Writing    fsm.Phase = "Writing"
	Verifying  fsm.Phase = "Verifying"
	Succeeded  fsm.Phase = "Succeeded"
	CleaningUp fsm.Phase = "CleaningUp"
	Failed     fsm.Phase = "Failed"
)

// The events of a capture.
const (
	Begun     fsm.Event = "Begun"     // the request was looked at
	Chosen    fsm.Event = "Chosen"    // the moment is chosen that all is read at
	Read      fsm.Event = "Read"      // everything was read
	Committed fsm.Event = "Committed" // the checkpoint is there
	Verified  fsm.Event = "Verified"  // what was read back is what was read
	Refused   fsm.Event = "Refused"   // it cannot be done
	TimedOut  fsm.Event = "TimedOut"  // the deadline of the request has passed
	Cleaned   fsm.Event = "Cleaned"   // nothing is left of what was made
	GivenUp   fsm.Event = "GivenUp"   // something is, and goes when the request does
	// MadeTooEarly is also the reason, because the kernel fires it: nobody checked who made the request.
	MadeTooEarly = fsm.Event(capturev1.ReasonMadeTooEarly)
)

// The reasons of waits. Why a request ends is in the API package.
const (
	ReasonNotLooked         fsm.Reason = "NotLooked"         // what is needed was not read yet
	ReasonBegun             fsm.Reason = "Begun"             // the request was looked at
	ReasonMakingKeeper      fsm.Reason = "MakingKeeper"      // the keeper is made that will own what is captured
	ReasonAwaitingVolumes   fsm.Reason = "AwaitingVolumes"   // a capture that volumes names is not finished
	ReasonMomentChosen      fsm.Reason = "MomentChosen"      // the moment is chosen that all is read at
	ReasonReading           fsm.Reason = "Reading"           // objects are being read
	ReasonEverythingRead    fsm.Reason = "EverythingRead"    // all of them were
	ReasonWriting           fsm.Reason = "Writing"           // chunks are being written, and then the checkpoint
	ReasonCheckpointWritten fsm.Reason = "CheckpointWritten" // it is there
	ReasonVerifying         fsm.Reason = "Verifying"         // chunks are being read back
	ReasonMomentLost        fsm.Reason = "MomentLost"        // the API server no longer knows the moment: another is chosen
	ReasonStoppingWork      fsm.Reason = "StoppingWork"      // work under way is stopped
	ReasonRemoving          fsm.Reason = "Removing"          // what was made is being removed
)

type input = fsm.Input[*capturev1.ManifestCaptureRequest, World]

func working(doc string, decide func(input) fsm.Decision, on fsm.Event, to fsm.Phase) fsm.Rule[input] {
	return fsm.Rule[input]{
		Doc: doc, Class: fsm.Working, Decide: decide,
		On:    map[fsm.Event]fsm.Phase{on: to, Refused: CleaningUp, TimedOut: CleaningUp},
		Until: deadline, Late: TimedOut, LateReason: capturev1.ReasonDeadlineExceeded,
	}
}

// verifying has time of its own if it is entered late: the checkpoint is there, and one that was committed in the last
// moment, or whose request has forgotten that it had ended long ago, must not be removed unseen.
func verifying() fsm.Rule[input] {
	rule := working("Chunks are read back and counted.", decideVerifying, Verified, Succeeded)
	rule.Until = func(in input) time.Time {
		if at := deadline(in); in.Now.Before(at) {
			return at
		}
		return in.Now.Add(request.Cleaning)
	}
	return rule
}

func deadline(in input) time.Time { return request.Deadline(in.Obj, in.Obj.Spec.DeadlineSeconds) }

// Machine is the whole life of a request.
var Machine = fsm.Machine[*capturev1.ManifestCaptureRequest, World]{
	Kind:    "ManifestCaptureRequest",
	OneShot: true,
	Lost:    lost, LostMessage: "The status was lost after the work had begun; make another request.",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "work", By: fsm.ByWorker},
		{Name: "api", By: fsm.ByTimer, Every: recheck},
		{Name: "volumes", By: fsm.ByTimer, Every: recheck},
	},
	Rules: fsm.Rules[input]{
		Start:  Pending,
		Groups: []fsm.Group{{Name: "Working", Phases: []fsm.Phase{Pending, Preparing, Reading, Writing, Verifying}}},
		Guards: []fsm.Guard[input]{{On: MadeTooEarly, To: CleaningUp, When: isEarly, Say: saysEarly}},
		Holds:  []fsm.Hold[input]{{Reason: capturev1.ReasonPolicyMissing, When: unproven, Wake: "api", ClockRuns: true}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc: "Asking whether the requester may have what is captured.", Class: fsm.Working, Decide: decidePending,
				On:    map[fsm.Event]fsm.Phase{Begun: Preparing, Refused: CleaningUp, TimedOut: CleaningUp},
				Until: deadline, Late: TimedOut, LateReason: capturev1.ReasonDeadlineExceeded,
			},
			Preparing: working("The keeper is made, what the request needs is looked at, and a moment is chosen.", decidePreparing, Chosen, Reading),
			Reading:   working("All objects are read as they were at that moment.", decideReading, Read, Writing),
			Writing:   working("Chunks are written, and the checkpoint last.", decideWriting, Committed, Verifying),
			Verifying: verifying(),
			Succeeded: {Doc: "Everything was captured and read back.", Class: fsm.Done},
			CleaningUp: {
				Doc: "The request fails; what it made is removed.", Class: fsm.Working, Decide: decideCleaningUp,
				On: map[fsm.Event]fsm.Phase{Cleaned: Failed, GivenUp: Failed},
			},
			Failed: {Doc: "Nothing was captured.", Class: fsm.Failed},
		},
	},
}
