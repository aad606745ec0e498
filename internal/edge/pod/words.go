package pod

import (
	"fmt"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// sentence ends words of others as a sentence.
func sentence(words string) string {
	if words = strings.TrimRight(words, ". \n"); words == "" {
		return "it says no more."
	}
	return words + "."
}

// says are the words of the agent, if it has any.
func (d Device) says() string {
	if d.Unrendered != "" {
		return " Flight Control cannot render the spec of the device: " + sentence(d.Unrendered)
	}
	if d.Says == "" {
		return ""
	}
	return " Its agent says: " + sentence(d.Says)
}

// unheard is why a device is not believed, and in which words.
func (d Device) unheard() (fsm.Reason, string) {
	switch d.State {
	case device.Gone:
		return ReasonDeviceGone, fmt.Sprintf("Flight Control has device %s no more, so whether the pod still runs there is not known.", d.Name)
	case device.Paused:
		return ReasonDevicePaused, fmt.Sprintf("Flight Control was restored from a backup and has not heard device %s since, so whether the pod runs is not known.", d.Name)
	}
	if d.LastSeen != "" {
		return ReasonDeviceSilent, fmt.Sprintf("Flight Control does not hear device %s, which it heard last at %s.", d.Name, d.LastSeen)
	}
	return ReasonDeviceSilent, fmt.Sprintf("Flight Control does not hear device %s.", d.Name)
}

func (d Device) captured() string {
	return fmt.Sprintf("%s has captured device %s and replaces its whole spec: change the labels of the device or the selector of the fleet.", d.owner(), d.Name)
}

// owner names the fleet.
func (d Device) owner() string {
	if name, is := strings.CutPrefix(d.Owner, "Fleet/"); is {
		return "Fleet " + name
	}
	return "A fleet"
}

// turn is why a pod is not sent yet.
func (d Device) turn() (fsm.Reason, string) {
	switch {
	case d.State == device.Shared:
		return ReasonShared, fmt.Sprintf("Cluster %s uses device %s as well, so no pod is added: let one of the two clusters leave it.", d.Other, d.Name)
	case d.State == device.Paused:
		return ReasonDevicePaused, fmt.Sprintf("Device %s had a newer spec than Flight Control, which was restored from a backup: resume it in Flight Control.", d.Name)
	case d.Newcomer != "":
		return ReasonTurn, fmt.Sprintf("Waiting until device %s has applied another pod.", d.Name)
	}
	return ReasonTurn, fmt.Sprintf("Waiting until device %s has applied the last version of its spec.%s", d.Name, d.says())
}

// list joins words that are no sentences.
func list(words []string) string { return strings.Join(words, "; ") }
