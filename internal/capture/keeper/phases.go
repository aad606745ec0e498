package keeper

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a keeper. Its end is that it is gone.
const (
	Pending  fsm.Phase = "Pending"
	Tracking fsm.Phase = "Tracking"
	Expiring fsm.Phase = "Expiring"
)

// The events of a keeper.
const (
	Found   fsm.Event = "Found"
	Lost    fsm.Event = "Lost"
	Expired fsm.Event = "Expired"
)

// The reasons of a keeper.
const (
	ReasonFollowing        fsm.Reason = "Following"        // the followed object is there
	ReasonNotLooked        fsm.Reason = "NotLooked"        // it was not read yet, or not live
	ReasonCannotFollow     fsm.Reason = "CannotFollow"     // it cannot be read: forbidden, not served, an error
	ReasonObjectGone       fsm.Reason = "ObjectGone"       // a live read says it is gone
	ReasonObjectBack       fsm.Reason = "ObjectBack"       // it is there after all, under the same UID
	ReasonCounting         fsm.Reason = "Counting"         // the time to live runs
	ReasonTimeOver         fsm.Reason = "TimeOver"         // it is over
	ReasonRetained         fsm.Reason = "Retained"         // kept for a while after the loss
	ReasonSavingTimeOfLoss fsm.Reason = "SavingTimeOfLoss" // the time at which the object was found gone is saved
	ReasonDeleting         fsm.Reason = "Deleting"         // the keeper is being deleted
)

type input = fsm.Input[*capturev1.ObjectKeeper, World]

// Machine is the whole life of a keeper.
var Machine = fsm.Machine[*capturev1.ObjectKeeper, World]{
	Kind:   "ObjectKeeper",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "followed", By: fsm.ByWatch},
	},
	Conditions: conditions,
	Rules: fsm.Rules[input]{
		Start:  Pending,
		Groups: []fsm.Group{{Name: "Following", Phases: []fsm.Phase{Pending, Tracking}}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Looking for the followed object for the first time.",
				Class:  fsm.Working,
				Decide: decideTracking,
				On:     map[fsm.Event]fsm.Phase{Found: Tracking, Lost: Expiring, Expired: Expiring},
			},
			Tracking: {
				Doc:    "The followed object is there, or the time to live runs.",
				Class:  fsm.Steady,
				Decide: decideTracking,
				On:     map[fsm.Event]fsm.Phase{Lost: Expiring, Expired: Expiring},
			},
			Expiring: {
				Doc:    "The followed object is gone; the keeper goes when its retention is over.",
				Class:  fsm.Working,
				Decide: decideExpiring,
				On:     map[fsm.Event]fsm.Phase{Found: Tracking},
			},
		},
	},
}
