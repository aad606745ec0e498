package restorer

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a restore, as the restorer sees it.
const (
	Idle         fsm.Phase = "Idle"
	Claiming     fsm.Phase = "Claiming"
	Provisioning fsm.Phase = "Provisioning"
	Moving       fsm.Phase = "Moving"
	Discarding   fsm.Phase = "Discarding"
)

// The events of a restore.
const (
	ToClaim     fsm.Event = "ToClaim"
	ToProvision fsm.Event = "ToProvision"
	ToMove      fsm.Event = "ToMove"
	ToDiscard   fsm.Event = "ToDiscard"
	Turned      fsm.Event = "Turned"
)

// The reasons of a restore.
const (
	ReasonNothingToDo        fsm.Reason = "NothingToDo"        // the request is done or given up, or another driver has it
	ReasonNotLooked          fsm.Reason = "NotLooked"          // something was not read
	ReasonNoClaim            fsm.Reason = "NoClaim"            // the claim is to be made
	ReasonWaitingForConsumer fsm.Reason = "WaitingForConsumer" // the class waits for a pod that uses the claim
	ReasonVolumeInTheWay     fsm.Reason = "VolumeInTheWay"     // a volume of that name belongs to a claim that was
	ReasonIntending          fsm.Reason = "Intending"          // the intent is to be written
	ReasonAsking             fsm.Reason = "Asking"             // the driver is asked for the volume
	ReasonTelling            fsm.Reason = "Telling"            // the claim is told what stands in the way
	ReasonStuck              fsm.Reason = "Stuck"              // the claim says what stands in the way; a person must act
	ReasonPublishing         fsm.Reason = "Publishing"         // the PersistentVolume is to be made
	ReasonOwned              fsm.Reason = "Owned"              // a PersistentVolume owns the volume
	ReasonMoving             fsm.Reason = "Moving"             // the detached volume is to be handed over
	ReasonAbandoned          fsm.Reason = "Abandoned"          // the request or its claim is gone, or was given up
	ReasonTurned             fsm.Reason = "Turned"             // what exists asks for something else
)

// recheck is how soon a restore is looked at even if nothing wakes us.
const recheck = 30 * time.Second

type input = fsm.Input[*Restore, World]

var back = map[fsm.Event]fsm.Phase{Turned: Idle}

// Machine is what the restorer does for one request.
var Machine = fsm.Machine[*Restore, World]{
	Kind:   "Restore",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "requests", By: fsm.ByWatch},
		{Name: "claims", By: fsm.ByWatch},
		{Name: "intents", By: fsm.BySampler}, // of this driver: nobody but a restorer writes them
	},
	Rules: fsm.Rules[input]{
		Start:  Idle,
		Groups: []fsm.Group{{Name: "Acting", Phases: []fsm.Phase{Claiming, Provisioning, Moving, Discarding}}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Idle: {
				Doc:    "There is nothing to do: the request is not begun, done, or another driver's.",
				Class:  fsm.Steady,
				Decide: decideIdle,
				On:     map[fsm.Event]fsm.Phase{ToClaim: Claiming, ToProvision: Provisioning, ToMove: Moving, ToDiscard: Discarding},
			},
			Claiming: {
				Doc:    "The claim is made; where its class waits for a pod, so does the volume. Then the intent is written.",
				Class:  fsm.Working,
				Decide: decideClaiming,
				On:     back,
			},
			Provisioning: {
				Doc:    "The driver makes the volume, and a PersistentVolume is made of it; then the intent goes.",
				Class:  fsm.Working,
				Decide: decideProvisioning,
				On:     back,
			},
			Moving: {
				Doc:    "A detached volume is handed over from the claim that held it.",
				Class:  fsm.Working,
				Decide: decideMoving,
				On:     back,
			},
			Discarding: {
				Doc:    "The request was given up: the volume is deleted, then the intent, then the claim that holds nothing, unless it is reserved.",
				Class:  fsm.Working,
				Decide: decideDiscarding,
				On:     back,
			},
		},
	},
}
