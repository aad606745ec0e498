package volumecapture

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Effect is what a capture may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// CreateKeeper makes the keeper. Namespace is the UID of the request's.
type CreateKeeper struct{ Namespace types.UID }

// CreateContent makes the content, for the driver to make a snapshot.
type CreateContent struct {
	Keeper               types.UID
	Driver, Handle, Mode string // of the volume
	Class                string
	Secret               Secret
	Origin               capturev1.Origin
}

// DeleteContent deletes the content, and with it a snapshot that may be there by now. If it
// were wrong, a backup would be lost: so only this very content in this version goes.
type DeleteContent struct {
	UID             types.UID
	ResourceVersion string
}

// Seen is a volume as it was decided upon.
type Seen struct {
	Name            string
	UID             types.UID
	ResourceVersion string
}

// MarkVolume makes a volume outlive its claim, and notes in the same write how it was before.
type MarkVolume struct {
	Volume Seen
	Policy string // that it had
	Origin capturev1.Origin
}

// UnmarkVolume takes a mark back: the claim was not touched.
type UnmarkVolume struct {
	Volume Seen
	Policy string
}

// DeleteClaim deletes the claim. If it were wrong, a workload would lose its data from under
// its feet: nobody uses it, its volume is marked, and that is read back before.
type DeleteClaim struct {
	UID             types.UID
	ResourceVersion string
}

// CreateHolder makes the claim that will hold the volume.
type CreateHolder struct {
	Keeper types.UID
	Volume Seen
}

// BindVolume gives the volume to its holder. If it were wrong, somebody's claim would lose
// its volume: so only one goes that is bound to the claim that was deleted.
type BindVolume struct {
	Volume Seen
	Holder types.UID
}

// RestorePolicy gives the volume back the policy that it had. From then on it goes with its
// holder: so that must be bound.
type RestorePolicy struct {
	Volume Seen
	Policy string
}

func (CreateKeeper) effect()  {}
func (CreateContent) effect() {}
func (DeleteContent) effect() {}
func (MarkVolume) effect()    {}
func (UnmarkVolume) effect()  {}
func (DeleteClaim) effect()   {}
func (CreateHolder) effect()  {}
func (BindVolume) effect()    {}
func (RestorePolicy) effect() {}

func (CreateKeeper) String() string    { return "create-keeper" }
func (CreateContent) String() string   { return "create-content" }
func (DeleteContent) String() string   { return "delete-content" }
func (e MarkVolume) String() string    { return "mark-volume " + e.Volume.Name }
func (e UnmarkVolume) String() string  { return "unmark-volume " + e.Volume.Name }
func (DeleteClaim) String() string     { return "delete-claim" }
func (CreateHolder) String() string    { return "create-holder" }
func (e BindVolume) String() string    { return "bind-volume " + e.Volume.Name }
func (e RestorePolicy) String() string { return "restore-policy " + e.Policy + " of " + e.Volume.Name }
