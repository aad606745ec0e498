package pod

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a pod.
const (
	Bound       fsm.Phase = "Bound"
	Refused     fsm.Phase = "Refused"
	Sending     fsm.Phase = "Sending"
	Preparing   fsm.Phase = "Preparing"
	Running     fsm.Phase = "Running"
	Crashing    fsm.Phase = "Crashing"
	Silent      fsm.Phase = "Silent"
	Captured    fsm.Phase = "Captured"
	Quarantined fsm.Phase = "Quarantined"
	Leaving     fsm.Phase = "Leaving"
)

// The events of a pod.
const (
	Unsupported       fsm.Event = "Unsupported"
	Supported         fsm.Event = "Supported"
	ToBeSent          fsm.Event = "ToBeSent"
	Sent              fsm.Event = "Sent"
	Started           fsm.Event = "Started"
	Failed            fsm.Event = "Failed"
	NotReported       fsm.Event = "NotReported"
	NotApplied        fsm.Event = "NotApplied"
	Unheard           fsm.Event = "Unheard"
	Heard             fsm.Event = "Heard"
	FleetCaptured     fsm.Event = "FleetCaptured"
	FleetReleased     fsm.Event = "FleetReleased"
	DeletionRequested fsm.Event = "DeletionRequested"
)

// The reasons of a pod.
const (
	ReasonNotLooked      fsm.Reason = "NotLooked"                  // the pool or the device was not read yet
	ReasonBlind          fsm.Reason = "FlightControlUnreachable"   // Flight Control does not answer
	ReasonBound          fsm.Reason = "Bound"                      // the pod is bound to a device, which has nothing of it
	ReasonUnsupported    fsm.Reason = "UnsupportedByEdge"          // a device cannot honour what the pod asks for
	ReasonSupported      fsm.Reason = "SupportedByEdge"            // nothing stands in the way any more
	ReasonConfigMissing  fsm.Reason = "CreateContainerConfigError" // a ConfigMap or a Secret is missing
	ReasonSending        fsm.Reason = "Sending"                    // the application is put into the device's spec
	ReasonTurn           fsm.Reason = "WaitingForTurn"             // the device has something else to apply first
	ReasonShared         fsm.Reason = "DeviceShared"               // another cluster uses the device
	ReasonPreparing      fsm.Reason = "Preparing"                  // the device is to pull and start it
	ReasonPostponed      fsm.Reason = "UpdatePostponed"            // the agent waits for its window of updates, or for its machine
	ReasonNotReported    fsm.Reason = "NotReported"                // the device does not report the application
	ReasonImagePull      fsm.Reason = "ImagePullBackOff"           // the device cannot pull the image
	ReasonCreateError    fsm.Reason = "CreateContainerError"       // the device cannot apply the pod
	ReasonRunning        fsm.Reason = "Running"                    // all containers run
	ReasonCrashLoop      fsm.Reason = "CrashLoopBackOff"           // the container is restarted again and again
	ReasonNotRunning     fsm.Reason = "ContainerNotRunning"        // the device has applied the pod, and the container does not run
	ReasonEdited         fsm.Reason = "ImageChanged"               // the pod's image was edited
	ReasonTakenOut       fsm.Reason = "TakenOut"                   // the application is not in the device's spec any more
	ReasonDeviceSilent   fsm.Reason = "DeviceSilent"               // the device is not heard
	ReasonDevicePaused   fsm.Reason = "DevicePaused"               // Flight Control was restored, and does not edit the device
	ReasonDeviceGone     fsm.Reason = "DeviceGone"                 // Flight Control has the device no more
	ReasonDeviceCaptured fsm.Reason = "DeviceCaptured"             // a fleet has captured the device
	ReasonDeviceBack     fsm.Reason = "DeviceBack"                 // the device is heard, or released, again
	ReasonLeaving        fsm.Reason = "Stopping"                   // the application is to stop
	ReasonNudging        fsm.Reason = "Nudging"                    // a new version makes the device try again
	ReasonStopped        fsm.Reason = "Stopped"                    // the application is gone
)

const (
	recheck = 30 * time.Second // of what no sweep tells
	// nudgeAfter is how long a device may take before a new version makes it try again; lateReport is how long it may take to
	// report its applications after it has reported the version, which agents do once a minute.
	nudgeAfter   = 30 * time.Second
	lateReport   = 2 * time.Minute
	longestNudge = 5 * time.Minute
	// calm is how long a container that was restarted must run: longer than agents take to report.
	calm = 3 * time.Minute
	// The back-off of a pod that its device cannot apply: each try may stop other changes of the device for the place timeout.
	shortestRetry, longestRetry = time.Minute, 30 * time.Minute
)

type input = fsm.Input[*Pod, World]

// living are the phases that lead to each other.
var living = []fsm.Phase{Bound, Refused, Sending, Preparing, Running, Crashing, Silent, Captured, Quarantined}

// Machine is the whole life of a pod on a device. A life without trouble is three writes of status until it runs (sending, preparing,
// because the place timeout starts there, and running), and one while it leaves.
var Machine = fsm.Machine[*Pod, World]{
	Kind:   "EdgePod",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "device", By: fsm.ByWorker},                    // a sweep has found a change of the device
		{Name: "sources", By: fsm.ByTimer, Every: recheck},    // ConfigMaps and Secrets are not watched
		{Name: "rendered", By: fsm.ByTimer, Every: lookAgain}, // what was rendered is read on demand
	},
	Rules: fsm.Rules[input]{
		Start: Bound,
		Groups: []fsm.Group{
			{Name: "Living", Phases: living},
			{Name: "Coming", Phases: []fsm.Phase{Bound, Sending, Preparing, Quarantined}},
		},
		Guards: []fsm.Guard[input]{{On: DeletionRequested, To: Leaving, When: isDeleted, Say: sayDeleted}},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonBlind, In: []fsm.Phase{Bound, Sending, Preparing, Quarantined, Leaving}, When: isBlind, Wake: "device"},
			{Reason: ReasonNotLooked, In: []fsm.Phase{Preparing}, When: isUnseen, Wake: "device"}, // nothing is given up unseen
			{Reason: ReasonPostponed, In: []fsm.Phase{Preparing}, When: isPostponed, Wake: "device"},
		},
		Phases: phases,
	},
}

// lookAgain is how soon what was rendered is read again while a pod leaves.
const lookAgain = 2 * time.Second

var phases = map[fsm.Phase]fsm.Rule[input]{
	Bound: {
		Doc:    "Bound to a device; what the device has of it is looked for.",
		Class:  fsm.Working,
		Decide: decideBound,
		On: map[fsm.Event]fsm.Phase{
			Unsupported: Refused, ToBeSent: Sending, Sent: Preparing, Started: Running, Failed: Crashing, NotApplied: Quarantined, Unheard: Silent, FleetCaptured: Captured,
		},
	},
	Refused: {
		Doc:    "A device cannot honour what the pod asks for, and nothing is sent.",
		Class:  fsm.Degraded,
		Decide: decideRefused,
		On:     map[fsm.Event]fsm.Phase{Supported: Bound},
	},
	Sending: {
		Doc:    "Waiting for its turn, and then put into the device's spec.",
		Class:  fsm.Working,
		Decide: decideSending,
		On:     map[fsm.Event]fsm.Phase{Sent: Preparing, Unsupported: Refused, Unheard: Silent, FleetCaptured: Captured},
	},
	Preparing: {
		Doc:    "In the device's spec; the device pulls its image and starts it.",
		Class:  fsm.Working,
		Decide: decidePreparing,
		On:     map[fsm.Event]fsm.Phase{Started: Running, Failed: Crashing, ToBeSent: Sending, NotApplied: Quarantined, Unheard: Silent, FleetCaptured: Captured},
		Until:  placeTimeout, Late: NotApplied,
	},
	Running: {
		Doc:    "All containers run, by what the device reports.",
		Class:  fsm.Steady,
		Decide: decideRunning,
		On:     map[fsm.Event]fsm.Phase{Failed: Crashing, NotReported: Preparing, ToBeSent: Sending, Unheard: Silent, FleetCaptured: Captured},
	},
	Crashing: {
		Doc:    "The device has applied it, and its container does not run, or is restarted again and again.",
		Class:  fsm.Degraded,
		Decide: decideCrashing,
		On:     map[fsm.Event]fsm.Phase{Started: Running, ToBeSent: Sending, Unheard: Silent, FleetCaptured: Captured},
	},
	Silent: {
		Doc:    "The device is not heard, or Flight Control has it no more: whether the pod runs is not known.",
		Class:  fsm.Degraded,
		Decide: decideSilent,
		On:     map[fsm.Event]fsm.Phase{Heard: Bound, FleetCaptured: Captured},
	},
	Captured: {
		Doc:    "A fleet has captured the device, and replaces its whole spec.",
		Class:  fsm.Degraded,
		Decide: decideCaptured,
		On:     map[fsm.Event]fsm.Phase{FleetReleased: Bound},
	},
	Quarantined: {
		Doc:    "The device could not apply it in time, and no other change with it: it is taken out, and tried again later.",
		Class:  fsm.Degraded,
		Decide: decideQuarantined,
		On:     map[fsm.Event]fsm.Phase{ToBeSent: Sending, Sent: Preparing, Unheard: Silent, FleetCaptured: Captured},
	},
	Leaving: {
		Doc:    "Deleted: the application is taken out, and once it is known to be gone, so is the pod's object.",
		Class:  fsm.Working,
		Decide: decideLeaving,
	},
}

func isDeleted(in input) bool { return in.Obj.DeletionTimestamp != nil }

func sayDeleted(input) string {
	return "The pod is to be deleted; its object goes once its application is known to be gone."
}

func isBlind(in input) (string, bool) {
	return "Flight Control does not answer, so nothing is known of the device: see the pool of the pod's Node.", in.World.Blind
}

func isUnseen(in input) (string, bool) {
	return unseen, !in.World.Looked || in.World.Device.State == ""
}

// isPostponed: the clock of the place timeout stands, because nothing is wrong with the pod.
func isPostponed(in input) (string, bool) {
	return "The agent of device " + in.World.Device.Name + " puts off its updates: " + sentence(in.World.Device.Says), in.World.Device.Waits
}

func placeTimeout(in input) time.Time {
	return in.Now.Add(time.Duration(in.World.PlaceTimeout) * time.Second)
}

// InFlight says that a pod in this phase waits for what its device reports next.
func InFlight(p fsm.Phase) bool {
	return p == Bound || p == Sending || p == Preparing || p == Leaving
}
