package manifestcapture

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Effect is what a capture may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// CreateKeeper makes the keeper of the request, which is in the namespace with that UID.
type CreateKeeper struct{ Namespace types.UID }

// StartReading begins to read all objects at a moment.
type StartReading struct{ Moment string }

// StartWriting begins to write what was read, after it was read again if nobody remembers
// it; all of it is owned by the keeper.
type StartWriting struct {
	Moment string
	Keeper types.UID
}

// StartVerifying begins to read back what the checkpoint lists, and to remove what it does not.
type StartVerifying struct {
	Moment             string
	Checkpoint, Keeper types.UID
}

// StopWork stops whatever is under way for the request.
type StopWork struct{}

// Remove removes something that the request made, in the version that was seen. If it were
// wrong, somebody's capture would be lost.
type Remove struct{ Leftover }

func (CreateKeeper) effect()   {}
func (StartReading) effect()   {}
func (StartWriting) effect()   {}
func (StartVerifying) effect() {}
func (StopWork) effect()       {}
func (Remove) effect()         {}

func (CreateKeeper) String() string     { return "create-keeper" }
func (e StartReading) String() string   { return "start-reading at " + e.Moment }
func (e StartWriting) String() string   { return "start-writing at " + e.Moment }
func (e StartVerifying) String() string { return "start-verifying" }
func (StopWork) String() string         { return "stop-work" }
func (e Remove) String() string         { return "remove " + e.Kind + " " + e.Name }
