// Package leaks finds what area capture has made and nobody keeps any more: artifacts
// without a keeper, keepers without a request, intents that nobody resolved, and what a
// storage driver has without an object. It only looks; what to do is a person's decision.
package leaks

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// Inventory is all that the area has in a cluster. Its lists were not read at one moment, so
// what is young proves nothing.
type Inventory struct {
	Requests  []Request
	Keepers   []Keeper
	Artifacts []Artifact
	// Stored is what a storage driver has, where somebody asked it.
	Stored []Stored
	// Handles are the driver's names of everything that the cluster knows, ours or not.
	Handles map[Handle]bool
}

// Request is a request of one of the four kinds.
type Request struct {
	Kind, Namespace, Name string
	UID                   types.UID
	Ready                 string // True, False, or "" while it has not ended
	Reason                string
	Phase                 string
	What                  string // what it captures or restores, in words
	Artifact              string // what it made
	Size                  *resource.Quantity
	Created               time.Time
}

// Ended says that the request is over.
func (r Request) Ended() bool { return r.Ready != "" }

// Keeper is an ObjectKeeper.
type Keeper struct {
	Name    string
	UID     types.UID
	Follows types.UID // "" follows nothing
	Kind    string    // of what it follows
	Of      Name      // of what it follows
	Created time.Time
	Expires *time.Time // when it goes, once what it follows is gone
	Deleted *time.Time // when its deletion was asked for
}

// Name is that of an object in a namespace.
type Name struct{ Namespace, Name string }

// Kind is a kind of artifact.
type Kind string

// The kinds of artifacts.
const (
	Content    Kind = "VolumeSnapshotContent"
	Checkpoint Kind = "ManifestCheckpoint"
	Chunk      Kind = "ManifestCheckpointContentChunk"
	Holder     Kind = "PersistentVolumeClaim"
	Volume     Kind = "PersistentVolume"
	Intent     Kind = "ConfigMap"
	keeperKind Kind = "ObjectKeeper"
)

// Artifact is something that a request made.
type Artifact struct {
	Kind            Kind
	Namespace, Name string
	Request         types.UID   // that made it
	Keepers         []types.UID // that own it
	Adopted         bool        // somebody else owns it as well, and answers for it
	Bound           bool        // of a volume: a claim has it
	Lists           []string    // of a checkpoint: its chunks
	Bytes           int64
	What            string             // was captured, in words
	Size            *resource.Quantity // of a volume that is restored from it
	Handle          string             // the driver's name of it
	Created         time.Time
	Deleted         *time.Time // when its deletion was asked for
}

// Handle is the name by which a driver knows something.
type Handle struct {
	Driver   string
	Snapshot bool // or else a volume
	ID       string
}

// Stored is something that a driver has.
type Stored struct {
	Handle
	Created time.Time // zero is unknown
}

// Leak is something that nobody keeps.
type Leak struct {
	Kind            Kind
	Namespace, Name string
	Reason          Reason
	Since           time.Time // of its creation, or of its deletion if that is what hangs
	Message         string    // what is wrong, and what may be done
}

// Reason is why something is a leak.
type Reason string

// The reasons.
const (
	NoKeeper   Reason = "NoKeeper"   // its keeper is gone, so nothing ever deletes it
	NoRequest  Reason = "NoRequest"  // a keeper stays though its request is gone
	NoHolder   Reason = "NoHolder"   // nothing holds a detached volume
	NotListed  Reason = "NotListed"  // no checkpoint lists the chunk, and its capture has ended
	Unresolved Reason = "Unresolved" // a restore was given up, and its volume may still be with the driver
	Stuck      Reason = "Stuck"      // its deletion was asked for long ago
	NoObject   Reason = "NoObject"   // the driver has it, and the cluster does not know it
)
