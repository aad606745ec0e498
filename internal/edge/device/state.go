package device

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// State is how a device is. "" is that it was not read, which says nothing.
type State string

// The states of a device.
const (
	Connected State = "Connected"
	Behind    State = "Behind"
	Shared    State = "Shared"
	Silent    State = "Silent"
	Paused    State = "Paused"
	Captured  State = "Captured"
	Gone      State = "Gone"
)

// Seen is what Flight Control says of a device. Sight is Gone only by an answer that Flight Control has no such device.
type Seen struct {
	Sight  presence.State
	Device fleet.Device
}

// Row is one state: of all rows the first that applies counts.
type Row struct {
	State State
	When  string // in words
	// Node is the condition Ready of the device's Node, and Reason why.
	Node   corev1.ConditionStatus
	Reason string
	// Believed says that what the device reports is of now, so that pods may be Ready by it.
	Believed bool
	// Edited says that its spec may be edited, and Adds that pods may be added to it now.
	Edited, Adds bool

	is func(entry.Cluster, Seen) bool
}

// The reasons of a Node.
const (
	ReasonConnected = "DeviceConnected"
	ReasonSilent    = "DeviceSilent"
	ReasonPaused    = "DevicePaused"
	ReasonCaptured  = "DeviceCaptured"
	ReasonGone      = "DeviceGone"
)

// Table has the states, the gravest first.
func Table() []Row {
	const ready, notReady, unknown = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	return []Row{
		{State: Gone, When: "Flight Control has no such device, or decommissions it", Node: unknown, Reason: ReasonGone, is: isGone},
		{State: Captured, When: "a fleet owns it, whose template replaces its whole spec", Node: notReady, Reason: ReasonCaptured, is: isOwned},
		{State: Paused, When: "Flight Control was restored from a backup, and has not heard it since", Node: unknown, Reason: ReasonPaused, is: awaitsReconnect},
		{State: Paused, When: "it had a newer spec than Flight Control after that, and is not heard", Node: unknown, Reason: ReasonPaused, is: pausedAndSilent},
		{State: Paused, When: "it had a newer spec than Flight Control after that: a person must decide", Node: ready, Reason: ReasonPaused, Believed: true, is: conflicts},
		{State: Silent, When: "Flight Control has not heard it for five minutes or more, or it restarts, or is switched off", Node: unknown, Reason: ReasonSilent, Edited: true, is: isSilent},
		{State: Shared, When: "another cluster has put applications on it", Node: ready, Reason: ReasonConnected, Believed: true, Edited: true, is: isShared},
		{State: Behind, When: "it has not applied the last version of its spec", Node: ready, Reason: ReasonConnected, Believed: true, Edited: true, is: isBehind},
		{State: Connected, When: "it has applied the last version of its spec", Node: ready, Reason: ReasonConnected, Believed: true, Edited: true, Adds: true, is: anyDevice},
	}
}

// Of is the row of a device; the zero row is that it was not read.
func Of(c entry.Cluster, seen Seen) Row {
	if seen.Sight != presence.Here && seen.Sight != presence.Gone {
		return Row{}
	}
	for _, row := range Table() {
		if row.is(c, seen) {
			return row
		}
	}
	return Row{}
}

func isGone(_ entry.Cluster, seen Seen) bool {
	d := seen.Device
	return seen.Sight == presence.Gone || d.Decommissioning || d.Status.Lifecycle == fleet.Decommissioning || d.Status.Lifecycle == fleet.Decommissioned
}

func isOwned(_ entry.Cluster, seen Seen) bool { return seen.Device.Owner != "" }

func awaitsReconnect(_ entry.Cluster, seen Seen) bool {
	return seen.Device.AwaitingReconnect || seen.Device.Status.Summary.Status == fleet.AwaitingReconnect
}

func conflicts(_ entry.Cluster, seen Seen) bool {
	return seen.Device.ConflictPaused || seen.Device.Status.Summary.Status == fleet.ConflictPaused
}

// pausedAndSilent: the summary says that it is paused, whether it is heard or not; the word about its update tells.
func pausedAndSilent(c entry.Cluster, seen Seen) bool {
	s := seen.Device.Status
	return conflicts(c, seen) && (s.Updated.Status == fleet.Unknown || s.Summary.Status == fleet.Unknown)
}

// isSilent: a word that is not known is not taken for a device that is well.
func isSilent(_ entry.Cluster, seen Seen) bool {
	switch seen.Device.Status.Summary.Status {
	case fleet.Online, fleet.Degraded, fleet.Error:
		return false
	}
	return true
}

func isShared(c entry.Cluster, seen Seen) bool {
	_, is := Others(c, seen.Device)
	return is
}

func isBehind(c entry.Cluster, seen Seen) bool { return !Settled(c, seen.Device) }

func anyDevice(entry.Cluster, Seen) bool { return true }

// Others is another cluster that has entries on a device.
func Others(c entry.Cluster, d fleet.Device) (other entry.Cluster, is bool) {
	for _, list := range [][]fleet.Entry{d.Applications, d.Config} {
		for _, e := range list {
			if other, is := c.Other(e.Name); is {
				return other, true
			}
		}
	}
	return "", false
}
