package manifestcapture

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// World is what a capture may look at.
type World struct {
	Keeping request.Keeping `json:"keeping,omitzero"`
	// Rights are those of the requester. They are asked for until reading begins; writing asks once more by itself.
	Rights request.Rights `json:"rights,omitzero"`
	// Limits are looked at when the request is accepted.
	Limits request.Limits `json:"limits,omitzero"`
	// Budget is what checkpoints may hold, and Held what they hold; nil is not counted.
	Budget Budget `json:"budget,omitzero"`
	Held   *Held  `json:"held,omitempty"`
	// Moment is a resourceVersion of just now. It is read only while one is to be chosen.
	Moment string `json:"moment,omitempty"`
	// Keys says whether there is a key to encrypt with; looked at if Secrets are included.
	Keys KeySight `json:"keys,omitempty"`
	// Volumes are the captures that the request names, each by its claim.
	Volumes map[string]Volume `json:"volumes,omitempty"`
	// Work is what the work that the request is in need of has come to.
	Work Work `json:"work,omitzero"`
	// Checkpoint is the one by the name of the request.
	Checkpoint Checkpoint `json:"checkpoint,omitzero"`
	// Leftovers are what there is to remove; nil is not looked.
	Leftovers []Leftover `json:"leftovers"`
}

// KeySight says whether the operator's keys can be used; "" is not read.
type KeySight string

// The sights of keys.
const (
	KeysUsable  KeySight = "Usable"
	KeysMissing KeySight = "Missing" // by a live read
	KeysInvalid KeySight = "Invalid"
)

// Volume says how the capture of a volume fares; "" is not read.
type Volume string

// How captures of volumes fare.
const (
	VolumeReady   Volume = "Ready"
	VolumePending Volume = "Pending"
	VolumeMissing Volume = "Missing" // there is no such capture, by a live read
	VolumeFailed  Volume = "Failed"
	VolumeOther   Volume = "Other" // it is the capture of another claim
)

// Task is one of the kinds of work.
type Task string

// The kinds of work.
const (
	TaskRead   Task = "read"
	TaskWrite  Task = "write"
	TaskVerify Task = "verify"
)

// TaskOf names work for good: for which request, and of which moment.
func TaskOf(t Task, request types.UID, moment string) string {
	return fmt.Sprintf("%s %s at %s", t, request, moment)
}

// Work is how far work is.
type Work struct {
	Task  Task      `json:"task,omitempty"`
	State WorkState `json:"state,omitempty"`
	// Expired says that it ended because the API server no longer knows the moment.
	Expired bool `json:"expired,omitempty"`
	// Verdict is why it can never succeed.
	Verdict *manifest.Refusal `json:"verdict,omitempty"`
	// Found is what reading came to.
	Found *Found `json:"found,omitempty"`
	// Checked is how many objects were read back.
	Checked *int32 `json:"checked,omitempty"`
}

// WorkState says how far work is; "" is that nothing is known: it is begun, again.
type WorkState string

// The states of work.
const (
	Running WorkState = "Running"
	Ended   WorkState = "Ended" // well, or with a verdict
)

// ErrExpired says that the API server no longer knows the moment.
var ErrExpired = errors.New("the moment is no longer known")

// Found is what reading came to.
type Found struct {
	Expected int32                      `json:"expected"`
	Skipped  []capturev1.SkippedObjects `json:"skipped,omitempty"`
}

// Checkpoint is what a live read of the checkpoint's name said.
type Checkpoint struct {
	Sight presence.State `json:"sight,omitempty"`
	Name  string         `json:"name,omitempty"`
	UID   types.UID      `json:"uid,omitempty"`
	Found
	ResourceVersion string `json:"resourceVersion,omitempty"` // that it was captured at
}

// Leftover is something that a failed request made.
type Leftover struct {
	Kind            string    `json:"kind"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
}

// The kinds of leftovers.
const (
	KindCheckpoint = "ManifestCheckpoint"
	KindChunk      = "ManifestCheckpointContentChunk"
)

// RequestLabel is borne by chunks: the UID of the request that made them.
const RequestLabel = "capture.statecraft.dev/request"

// on is the work that this task needs; other work is none of it.
func (w World) on(t Task) Work {
	if w.Work.Task != t {
		return Work{}
	}
	return w.Work
}

// Result is what work that ended well came to.
type Result struct {
	Found   *Found
	Checked *int32
}
