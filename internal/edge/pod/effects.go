package pod

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Effect is what a pod may do. Edits of a device read it live first, and are refused if it is not as they were decided for.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// Send puts the application into the device's spec, or replaces it by one with another image. It is refused while the device has
// not applied something else: two additions at once could each stop the other.
type Send struct{ Application, Image string }

// Remove takes the application out of the device's spec, and with it the newcomer that keeps the device from applying any
// version; that one is sent again later. If it were wrong, a living pod's containers would stop.
type Remove struct {
	Application, Newcomer string
	Replaces              bool  // the newcomer is another image of a pod that runs
	At                    int64 // the mark of a removal that the device does not show, in seconds
}

// Nudge makes a new version of the device's spec by the content of one small file of ours, so that an agent that has given up tries
// again, and a spec that was rendered too early is rendered anew.
type Nudge struct{ At int64 } // the content: seconds

// Release removes the pod's object at once, in the version that was seen. If it were wrong, a StatefulSet would run twice.
type Release struct {
	UID             types.UID
	ResourceVersion string
	Seen            string // what shows that the application is gone
}

func (Send) effect()    {}
func (Remove) effect()  {}
func (Nudge) effect()   {}
func (Release) effect() {}

func (e Send) String() string { return "send " + e.Application + " with " + e.Image }

func (e Remove) String() string {
	if e.Newcomer != "" {
		return "remove " + e.Application + ", and " + e.Newcomer + " for now"
	}
	return "remove " + e.Application
}

func (Nudge) String() string     { return "nudge the device" }
func (e Release) String() string { return "release " + string(e.UID) }

// Evidence implements fsm.Proven: a receipt is closed by what was seen alone.
func (e Release) Evidence() string { return e.Seen }
