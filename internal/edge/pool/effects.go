package pool

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Effect is what a pool may do. Nodes and Leases are kept by a worker, as package node plans.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// AddFinalizer makes sure that the pool does not go while something of it is left.
type AddFinalizer struct {
	UID             types.UID
	ResourceVersion string
}

// RemoveEntries takes entries of this cluster off a device. If it were wrong, containers of living pods would stop: so only
// entries go that are named.
type RemoveEntries struct {
	Device string
	Names  []string
}

// NudgeDevice makes a new version of a device's spec.
type NudgeDevice struct {
	Device string
	At     int64
}

// RemoveMark takes our mark off a device that has nothing else of ours.
type RemoveMark struct{ Device string }

// Finish lets the pool go. If it were wrong, containers would run on devices that no object tells of.
type Finish struct {
	UID             types.UID
	ResourceVersion string
	Seen            string
}

func (AddFinalizer) effect()  {}
func (RemoveEntries) effect() {}
func (NudgeDevice) effect()   {}
func (RemoveMark) effect()    {}
func (Finish) effect()        {}

func (e AddFinalizer) String() string { return "add-finalizer " + string(e.UID) }
func (e RemoveEntries) String() string {
	return "remove from " + e.Device + " " + strings.Join(e.Names, ", ")
}
func (e NudgeDevice) String() string { return "nudge " + e.Device }
func (e RemoveMark) String() string  { return "remove the mark from " + e.Device }
func (e Finish) String() string      { return "finish " + string(e.UID) }

// Evidence implements fsm.Proven.
func (e Finish) Evidence() string { return e.Seen }
