package pool

import (
	"time"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a pool.
const (
	Connecting fsm.Phase = "Connecting"
	Surveying  fsm.Phase = "Surveying"
	Serving    fsm.Phase = "Serving"
	Blind      fsm.Phase = "Blind"
	Refused    fsm.Phase = "Refused"
	Draining   fsm.Phase = "Draining"
)

// The events of a pool.
const (
	Connected         fsm.Event = "Connected"
	Surveyed          fsm.Event = "Surveyed"
	Lost              fsm.Event = "Lost"
	NotAllowed        fsm.Event = "NotAllowed"
	Changed           fsm.Event = "Changed"
	DeletionRequested fsm.Event = "DeletionRequested"
)

// The reasons of a pool.
const (
	ReasonNotLooked   fsm.Reason = "NotLooked"                // the Nodes of the pool were not read yet
	ReasonStarting    fsm.Reason = "Starting"                 // the pool is made sure not to go while something of it is left
	ReasonConnecting  fsm.Reason = "Connecting"               // Flight Control was not asked yet
	ReasonUnreachable fsm.Reason = "FlightControlUnreachable" // Flight Control does not answer
	ReasonDenied      fsm.Reason = "CredentialsRefused"       // Flight Control refuses the credentials
	ReasonTooMany     fsm.Reason = "TooManyDevices"           // the pool has more devices than it may have
	ReasonSurveying   fsm.Reason = "Surveying"                // devices and pods are read completely
	ReasonServing     fsm.Reason = "Serving"                  // devices are announced
	ReasonAnswered    fsm.Reason = "FlightControlAnswers"     // Flight Control answers again
	ReasonChanged     fsm.Reason = "SpecChanged"              // the spec asks for another server, or other credentials
	ReasonOrphans     fsm.Reason = "RemovingOrphans"          // what no pod has is taken off devices
	ReasonOrphansHeld fsm.Reason = "OrphansHeld"              // it is too much to be removed without a person
	ReasonNoneHeld    fsm.Reason = "NoneHeld"                 // nothing waits for a person to be removed
	ReasonUnasked     fsm.Reason = "ApplicationUnasked"       // a device runs what its spec does not have
	ReasonPodsLeft    fsm.Reason = "PodsLeft"                 // pods are bound to Nodes of the pool
	ReasonNodesLeft   fsm.Reason = "NodesLeft"                // Nodes of the pool are about to go
	ReasonDrained     fsm.Reason = "Drained"                  // nothing of the pool is left
)

const (
	recheck = 30 * time.Second
	// blindAfter is how long Flight Control may not answer before the pool says so.
	blindAfter = 30 * time.Second
	// sweep is how long what no pod has must be without one before it goes, seen twice at least.
	sweep      = 30 * time.Second
	looks      = 2
	fewOrphans = 3 // so many go without a person, and so does a tenth of what the pool has
)

type input = fsm.Input[*edgev1.EdgePool, World]

// Machine is the whole life of a pool.
var Machine = fsm.Machine[*edgev1.EdgePool, World]{
	Kind:       "EdgePool",
	Report:     report,
	Conditions: conditions,
	Wakes: []fsm.Wake{
		{Name: "sweep", By: fsm.ByWorker}, // of the devices and of the pods
		{Name: "nodes", By: fsm.ByWatch},
		{Name: "credentials", By: fsm.ByTimer, Every: recheck}, // Secrets are not watched
	},
	Rules: fsm.Rules[input]{
		Start:  Connecting,
		Groups: []fsm.Group{{Name: "Announcing", Phases: []fsm.Phase{Connecting, Surveying, Serving, Blind}}},
		Guards: []fsm.Guard[input]{{On: DeletionRequested, To: Draining, When: isDeleted, Say: sayDeleted}},
		Phases: phases,
	},
}

var phases = map[fsm.Phase]fsm.Rule[input]{
	Connecting: {
		Doc:    "Asking Flight Control for the first time by these credentials.",
		Class:  fsm.Working,
		Decide: decideConnecting,
		On:     map[fsm.Event]fsm.Phase{Connected: Surveying, Lost: Blind, NotAllowed: Refused},
	},
	Surveying: {
		Doc:    "Reading all devices of the pool and all pods of the cluster, before anything is sent or removed.",
		Class:  fsm.Working,
		Decide: decideSurveying,
		On:     map[fsm.Event]fsm.Phase{Surveyed: Serving, Lost: Blind, NotAllowed: Refused, Changed: Connecting},
	},
	Serving: {
		Doc:    "Devices are announced as Nodes.",
		Class:  fsm.Steady,
		Decide: decideServing,
		On:     map[fsm.Event]fsm.Phase{Lost: Blind, NotAllowed: Refused, Changed: Connecting},
	},
	Blind: {
		Doc:    "Flight Control does not answer. Nodes and pods stay as they are, and nothing is evicted.",
		Class:  fsm.Degraded,
		Decide: decideBlind,
		On:     map[fsm.Event]fsm.Phase{Connected: Surveying, NotAllowed: Refused, Changed: Connecting},
	},
	Refused: {
		Doc:    "The pool cannot be served until a person changes it. Nodes that exist stay.",
		Class:  fsm.Failed,
		Decide: decideRefused,
		On:     map[fsm.Event]fsm.Phase{Connected: Surveying, Changed: Connecting},
	},
	Draining: {
		Doc:    "Deleted: Nodes are closed and their pods evicted; the pool goes once no pod, no Node and nothing on devices is left.",
		Class:  fsm.Working,
		Decide: decideDraining,
	},
}

func isDeleted(in input) bool { return in.Obj.DeletionTimestamp != nil }

func sayDeleted(input) string {
	return "The pool is to be deleted; it goes once no pod, no Node and nothing on its devices is left."
}
