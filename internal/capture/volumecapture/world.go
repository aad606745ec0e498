package volumecapture

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// World is what a capture may look at. All but the keeper is from live reads.
type World struct {
	// Self is the phase of the request itself. The one in hand may be of the past, in which
	// what was made and deleted since was not made yet.
	Self    fsm.Phase       `json:"self,omitempty"`
	Keeping request.Keeping `json:"keeping,omitzero"`
	// Rights are those of the requester. They are asked for when the request is accepted, and until its claim is deleted.
	Rights request.Rights `json:"rights,omitzero"`
	// Limits are looked at when the request is accepted.
	Limits  request.Limits `json:"limits,omitzero"`
	Claim   Claim          `json:"claim,omitzero"`
	Volume  Volume         `json:"volume,omitzero"` // of the claim, or the one that was taken from it
	Class   Class          `json:"class,omitzero"`
	Content Content        `json:"content,omitzero"`
	Users   Users          `json:"users,omitzero"`
	Holder  Holder         `json:"holder,omitzero"`
}

// Claim is the claim that the request names.
type Claim struct {
	Sight           presence.State     `json:"sight,omitempty"`
	Why             presence.Blindness `json:"why,omitempty"` // it is Unknown
	UID             types.UID          `json:"uid,omitempty"`
	ResourceVersion string             `json:"resourceVersion,omitempty"`
	// Bound says that claim and volume name each other: a claim that is not bound may name
	// anybody's volume.
	Bound     bool      `json:"bound,omitempty"`
	Deleting  bool      `json:"deleting,omitempty"`
	DeletedAt time.Time `json:"deletedAt,omitzero"`
}

// Volume is a PersistentVolume.
type Volume struct {
	Sight           presence.State     `json:"sight,omitempty"`
	Why             presence.Blindness `json:"why,omitempty"` // it is Unknown
	Name            string             `json:"name,omitempty"`
	UID             types.UID          `json:"uid,omitempty"`
	ResourceVersion string             `json:"resourceVersion,omitempty"`
	Driver          string             `json:"driver,omitempty"` // "" is no volume of a CSI driver
	Handle          string             `json:"handle,omitempty"`
	Mode            string             `json:"mode,omitempty"`
	Policy          string             `json:"policy,omitempty"`
	ClaimUID        types.UID          `json:"claimUID,omitempty"` // of the claim that it is bound to
	Mark            Mark               `json:"mark,omitzero"`
	// Deleting says that only its claim keeps it: when that goes it is gone, and with it all that
	// tells of the volume in the backend.
	Deleting bool `json:"deleting,omitempty"`
}

// Mark is what a request writes on a volume before it takes it from its claim. It is found
// again when the status was lost.
type Mark struct {
	By     types.UID         `json:"by,omitempty"`     // the request; "" is no mark
	Policy string            `json:"policy,omitempty"` // that the volume had before
	Origin *capturev1.Origin `json:"origin,omitempty"`
}

// Class is the VolumeSnapshotClass that fits.
type Class struct {
	Sight ClassSight `json:"sight,omitempty"`
	Name  string     `json:"name,omitempty"`
	// Secret is what the driver needs to delete the snapshot.
	Secret Secret `json:"secret,omitzero"`
}

// ClassSight is what the search for a class came to; "" is not looked.
type ClassSight string

// What a search for a class comes to.
const (
	ClassFound       ClassSight = "Found"
	ClassMissing     ClassSight = "Missing"     // none of the name, or none of the driver
	ClassAmbiguous   ClassSight = "Ambiguous"   // several of the driver, and none is the default
	ClassOfAnother   ClassSight = "OfAnother"   // the one that is named is of another driver
	ClassUnserved    ClassSight = "Unserved"    // the API server does not serve classes
	ClassUnreadable  ClassSight = "Unreadable"  // the manager may not read them
	ClassNonsensical ClassSight = "Nonsensical" // its secret cannot be made out
)

// Secret names a Secret.
type Secret struct {
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Content is the VolumeSnapshotContent of the request.
type Content struct {
	Sight           presence.State     `json:"sight,omitempty"`
	Why             presence.Blindness `json:"why,omitempty"` // it is Unknown
	UID             types.UID          `json:"uid,omitempty"`
	ResourceVersion string             `json:"resourceVersion,omitempty"`
	Deleting        bool               `json:"deleting,omitempty"`
	Ready           bool               `json:"ready,omitempty"`
	Handle          string             `json:"handle,omitempty"`
	Size            *int64             `json:"size,omitempty"` // of a volume to restore to
	Error           string             `json:"error,omitempty"`
	Origin          *capturev1.Origin  `json:"origin,omitempty"`
}

// Users are the pods that use the claim.
type Users struct {
	Looked bool   `json:"looked,omitempty"`
	Pod    string `json:"pod,omitempty"` // one of them
}

// Holder is the claim that holds a detached volume.
type Holder struct {
	Sight presence.State `json:"sight,omitempty"`
	UID   types.UID      `json:"uid,omitempty"`
	Bound bool           `json:"bound,omitempty"`
}

// ContentName is the name of the content of a request. The name of the snapshot follows from
// the UID, too, so a driver that is asked twice makes one.
func ContentName(uid types.UID) string { return ContentPrefix + string(uid) }

// ContentPrefix is how the names of all contents of ours begin.
const ContentPrefix = "capture-"

// HolderName is the name of the claim that holds a detached volume.
func HolderName(uid types.UID) string { return "detached-" + string(uid) }
