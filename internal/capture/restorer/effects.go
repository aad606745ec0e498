package restorer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Effect is what the restorer may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// CreateClaim makes the claim, bound to nothing. Volume is the only one it may be bound to,
// so that the cluster does not give it any other; "" where a pod decides where that is.
type CreateClaim struct {
	Class, Volume string
	Keeper        types.UID // of a rehearsal
}

// DeleteClaim deletes a claim that is bound to nothing, in the version that was seen. If it
// were wrong, restored data would be lost, or an application would start without any.
type DeleteClaim struct {
	Name            string
	UID             types.UID
	ResourceVersion string
}

// CreateIntent writes down what the driver is going to be asked for.
type CreateIntent struct{ Intent Intent }

// RemoveIntent removes it: the volume has an owner, or is gone.
type RemoveIntent struct {
	UID             types.UID
	ResourceVersion string
}

// CreateVolume asks the driver for the volume.
type CreateVolume struct{ Intent Intent }

// DiscardVolume deletes the volume, if there is one: the driver is asked for it once more,
// because only its answer tells how it is called. If it were wrong, restored data would be
// lost.
type DiscardVolume struct{ Intent Intent }

// CreatePV makes the PersistentVolume of a volume, for the claim and nobody else.
type CreatePV struct {
	Intent Intent
	Volume Volume
}

// MoveVolume hands a detached volume from who holds it to the claim, in one write: it is
// never without an owner. From then on it outlives its claim, until the two are bound: it is
// the only copy of its data, and a claim that is not bound may still be given up.
type MoveVolume struct {
	PV    PV
	Claim Ref
}

// FinishMove gives a volume that was moved its reclaim policy back, and takes the marks of its
// capture off: it is a volume like any other now, and can be detached again.
type FinishMove struct{ PV PV }

// Tell tells the claim what stands in the way; nothing does any more, without a reason.
type Tell struct {
	Claim  Ref
	Reason fsm.Reason
	Words  string
}

func (CreateClaim) effect()   {}
func (DeleteClaim) effect()   {}
func (CreateIntent) effect()  {}
func (RemoveIntent) effect()  {}
func (CreateVolume) effect()  {}
func (DiscardVolume) effect() {}
func (CreatePV) effect()      {}
func (MoveVolume) effect()    {}
func (FinishMove) effect()    {}
func (Tell) effect()          {}

func (CreateClaim) String() string     { return "create-claim" }
func (e DeleteClaim) String() string   { return "delete-claim " + string(e.UID) }
func (e CreateIntent) String() string  { return "create-intent for " + string(e.Intent.Claim.UID) }
func (e RemoveIntent) String() string  { return "remove-intent " + string(e.UID) }
func (e CreateVolume) String() string  { return "create-volume " + e.Intent.Plan.Name }
func (e DiscardVolume) String() string { return "discard-volume " + e.Intent.Plan.Name }
func (e CreatePV) String() string      { return "create-pv " + e.Intent.Plan.Name }
func (e MoveVolume) String() string    { return "move-volume " + e.PV.Name }
func (e FinishMove) String() string    { return "finish-move " + e.PV.Name }
func (e Tell) String() string          { return "tell-claim " + string(e.Reason) }
