package volumerestore

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// World is what a restore may look at.
type World struct {
	Keeping request.Keeping `json:"keeping,omitzero"`
	// Rights are those of the requester. They are asked for until the volume was made, and before the Job is.
	Rights request.Rights `json:"rights,omitzero"`
	Source Source         `json:"source,omitzero"`
	Claim  Claim          `json:"claim,omitzero"`
	Probe  Probe          `json:"probe,omitzero"`
}

// Source is what live reads of what the request names have said. It is looked at until it
// is in the status.
type Source struct {
	Sight Sight  `json:"sight,omitempty"`
	What  string `json:"what,omitempty"` // its kind and name, for words
	Why   string `json:"why,omitempty"`  // of a sight that is not Ready
	// Resolved is what there is to restore.
	Resolved *capturev1.ResolvedSource `json:"resolved,omitempty"`
	// Capacity is that of a detached volume, which is moved as it is.
	Capacity *resource.Quantity `json:"capacity,omitempty"`
	// Mode is how it was used when it was captured; "" is not known.
	Mode corev1.PersistentVolumeMode `json:"mode,omitempty"`
	// Class is the storage class that the claim will have; it is not looked at for a
	// volume that is moved.
	Class Class `json:"class,omitzero"`
}

// Sight is what was found of a source; "" is not looked.
type Sight string

// The sights of a source, all from live reads.
const (
	Ready      Sight = "Ready"
	Unfinished Sight = "Unfinished" // the capture goes on
	Missing    Sight = "Missing"    // a 404 that names it
	NotReady   Sight = "NotReady"   // the capture failed
	Foreign    Sight = "Foreign"    // its namespace is not the one that it was captured in
	Consumed   Sight = "Consumed"   // the volume is somebody else's by now
	Unfit      Sight = "Unfit"      // it is nothing that can be restored
)

// Class is a storage class.
type Class struct {
	Name        string `json:"name,omitempty"`
	Missing     bool   `json:"missing,omitempty"`     // there is none of that name, or no default
	Provisioner string `json:"provisioner,omitempty"` // "" is not looked
}

// Claim is the claim of the template's name.
type Claim struct {
	Sight           presence.State `json:"sight,omitempty"`
	UID             types.UID      `json:"uid,omitempty"`
	ResourceVersion string         `json:"resourceVersion,omitempty"`
	Deleting        bool           `json:"deleting,omitempty"`
	// Reserved says that it was made together with what uses it, which waits for it: without it
	// a StatefulSet would make an empty one of that name.
	Reserved bool `json:"reserved,omitempty"`
	// Volume says what it is bound to; "" is to nothing yet.
	Volume Volume `json:"volume,omitempty"`
	// Trouble is what the restorer says stands in the way.
	Trouble fsm.Reason `json:"trouble,omitempty"`
	// Words are the restorer's. They may hold text of the driver, so they are only repeated
	// at the end.
	Words string `json:"words,omitempty"`
}

// Volume is what a claim is bound to, by live reads of both.
type Volume string

// The volumes.
const (
	TheRestored Volume = "Restored" // the volume that was made, or moved, for this request
	Awaiting    Volume = "Awaiting" // to nothing yet, but a volume is there that can be bound to it alone
	Another     Volume = "Another"
)

// Probe is the Job of a rehearsal.
type Probe struct {
	Sight           ProbeSight `json:"sight,omitempty"`
	UID             types.UID  `json:"uid,omitempty"`
	ResourceVersion string     `json:"resourceVersion,omitempty"`
	Words           string     `json:"words,omitempty"` // of its failure, or why its pod does not run
	Deleting        bool       `json:"deleting,omitempty"`
}

// ProbeSight is how far a Job is; "" is not looked.
type ProbeSight string

// The sights of a Job.
const (
	NoProbe     ProbeSight = "None"
	ProbeRuns   ProbeSight = "Runs"
	ProbePassed ProbeSight = "Passed"
	ProbeFailed ProbeSight = "Failed"
	ProbeTaken  ProbeSight = "Taken" // somebody else's Job has its name
)

// bound says that the claim holds what was restored.
func (c Claim) bound() bool { return c.Sight == presence.Here && c.Volume == TheRestored }

// empty says that the claim was made for nothing: no data would go with it.
func (c Claim) empty() bool { return c.Sight == presence.Here && c.Volume == "" && !c.Deleting }

// isSurplus says that the claim can go without a loss, and nothing waits for it.
func (c Claim) isSurplus() bool { return c.empty() && !c.Reserved }
