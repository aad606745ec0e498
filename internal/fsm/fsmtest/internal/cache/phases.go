package cache

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a cache.
const (
	Applying fsm.Phase = "Applying"
	Starting fsm.Phase = "Starting"
	Running  fsm.Phase = "Running"
	Degraded fsm.Phase = "Degraded"
	Deleting fsm.Phase = "Deleting"
)

// The events of a cache.
const (
	Applied   fsm.Event = "Applied"
	Started   fsm.Event = "Started"
	TooSlow   fsm.Event = "TooSlow"
	Outdated  fsm.Event = "Outdated"
	Failed    fsm.Event = "Failed"
	Recovered fsm.Event = "Recovered"
	Deleted   fsm.Event = "Deleted"
)

// The reasons of a cache.
const (
	ReasonNotLooked fsm.Reason = "NotLooked" // the server was not looked for yet
	ReasonApplying  fsm.Reason = "Applying"  // the server is made or changed
	ReasonStarting  fsm.Reason = "Starting"  // the server is not ready yet
	ReasonServing   fsm.Reason = "Serving"   // the server is ready
	ReasonNotReady  fsm.Reason = "NotReady"  // it was, and is not any more
	ReasonOutdated  fsm.Reason = "Outdated"  // the server is missing, or of another size
	ReasonRelabel   fsm.Reason = "Relabel"   // someone took the server's label
	ReasonRemoving  fsm.Reason = "Removing"  // the server is taken down
	ReasonPaused    fsm.Reason = "Paused"    // the user wants no changes
)

type input = fsm.Input[*Cache, World]

const (
	startTimeout = 5 * time.Minute
	recheck      = time.Minute
)

// Machine is the whole life of a cache.
var Machine = fsm.Machine[*Cache, World]{
	Kind:   "Cache",
	Reflex: relabel,
	Wakes: []fsm.Wake{
		{Name: "servers", By: fsm.BySampler},
	},
	Rules: fsm.Rules[input]{
		Start: Applying,
		Guards: []fsm.Guard[input]{{On: Deleted, To: Deleting, When: func(in input) bool {
			return in.Obj.DeletionTimestamp != nil
		}}},
		// Who deletes a paused cache wants it gone.
		Holds: []fsm.Hold[input]{{Reason: ReasonPaused, In: []fsm.Phase{Applying}, When: paused, Wake: "self"}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Applying: {
				Doc:    "The server is made, or brought to the wanted size.",
				Class:  fsm.Working,
				Decide: decideApplying,
				On:     map[fsm.Event]fsm.Phase{Applied: Starting},
			},
			Starting: {
				Doc:    "Waiting until the server is ready.",
				Class:  fsm.Working,
				Decide: decideStarting,
				On:     map[fsm.Event]fsm.Phase{Started: Running, Outdated: Applying, TooSlow: Degraded},
				Within: startTimeout,
				Late:   TooSlow,
			},
			Running: {
				Doc:    "The server serves.",
				Class:  fsm.Steady,
				Decide: decideRunning,
				On:     map[fsm.Event]fsm.Phase{Outdated: Applying, Failed: Degraded},
			},
			Degraded: {
				Doc:    "The server is there and does not serve.",
				Class:  fsm.Degraded,
				Decide: decideDegraded,
				On:     map[fsm.Event]fsm.Phase{Outdated: Applying, Recovered: Running},
			},
			Deleting: {
				Doc:    "The server goes, and then the cache.",
				Class:  fsm.Working,
				Decide: decideDeleting,
			},
		},
	},
}
