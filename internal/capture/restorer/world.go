package restorer

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// World is what the restorer may look at. All of it is read live: what is done here is not
// taken back.
type World struct {
	Request Request `json:"request,omitempty"`
	Moves   bool    `json:"moves,omitempty"` // a detached volume, instead of making one
	Claim   Claim   `json:"claim,omitzero"`
	Class   Class   `json:"class,omitzero"`
	Keeper  Keeper  `json:"keeper,omitzero"`
	Intent  Stored  `json:"intent,omitzero"`
	PV      PV      `json:"pv,omitzero"`
	// Backend says that the driver has a volume of this name. Only the model knows.
	Backend bool `json:"backend,omitempty"`
}

// Request is what becomes of the request; "" is not looked.
type Request string

// The states of a request, as far as the restorer is concerned.
const (
	Wanted    Request = "Wanted"    // in phase Restoring, from this driver, and accepted: it has a keeper
	GivenUp   Request = "GivenUp"   // cleaning up, or failed
	Gone      Request = "Gone"      // a 404 that names it, or another UID under its name
	Elsewhere Request = "Elsewhere" // not accepted, not begun, done, or another driver's
)

// Claim is the claim of the template's name.
type Claim struct {
	Sight           presence.State `json:"sight,omitempty"`
	Namespace       string         `json:"namespace,omitempty"`
	Name            string         `json:"name,omitempty"`
	UID             types.UID      `json:"uid,omitempty"`
	ResourceVersion string         `json:"resourceVersion,omitempty"`
	Bound           bool           `json:"bound,omitempty"`
	Deleting        bool           `json:"deleting,omitempty"`
	// Reserved says that it was made together with what uses it, which waits for it: without it
	// a StatefulSet would make an empty one of that name.
	Reserved bool `json:"reserved,omitempty"`
	// Consumer says that the claim waits for a pod, and none was placed yet.
	Consumer bool `json:"consumer,omitempty"`
	// Told is what the claim was told stands in the way.
	Told fsm.Reason `json:"told,omitempty"`
}

func (c Claim) ref() Ref { return Ref{c.Namespace, c.Name, c.UID} }

// Class is the storage class of a claim that is to be made, or what is wrong with it.
type Class struct {
	Name      string `json:"name,omitempty"` // "" is not looked, or none
	Immediate bool   `json:"immediate,omitempty"`
}

// Keeper is that of a request that is wanted. That of a rehearsal is Needed: it owns what is made for it.
type Keeper struct {
	Needed bool      `json:"needed,omitempty"`
	UID    types.UID `json:"uid,omitempty"`
}

// owner is who owns the claim: nobody, unless it is a rehearsal's. A claim that is restored is its user's, with the
// data in it, and must not go when the request does.
func (k Keeper) owner() types.UID {
	if !k.Needed {
		return ""
	}
	return k.UID
}

// Stored is the intent.
type Stored struct {
	Sight           presence.State `json:"sight,omitempty"`
	UID             types.UID      `json:"uid,omitempty"`
	ResourceVersion string         `json:"resourceVersion,omitempty"`
	Intent          *Intent        `json:"intent,omitempty"` // as it is stored
	// Draft is what it would be, while there is none; Flaw is why there can be none.
	Draft *Intent  `json:"draft,omitempty"`
	Flaw  *Trouble `json:"flaw,omitempty"`
}

// PV is the PersistentVolume that is made or moved.
type PV struct {
	Sight           PVSight   `json:"sight,omitempty"`
	Name            string    `json:"name,omitempty"`
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Holder          string    `json:"holder,omitempty"` // who has it, for words
	// Parked says that a detached volume is where its capture has put it.
	Parked bool `json:"parked,omitempty"`
	// Marked says that it was moved and still bears the marks of its capture: it outlives its claim.
	Marked bool `json:"marked,omitempty"`
}

// PVSight is whose a PersistentVolume is; "" is not looked.
type PVSight string

// The sights of a PersistentVolume.
const (
	NoPV    PVSight = "None"
	ForUs   PVSight = "ForUs"   // it is claimed by our claim
	Held    PVSight = "Held"    // a detached volume that nobody has moved yet
	Strange PVSight = "Strange" // it is claimed by somebody else, or by a claim that was
)
