package manifestrestore

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// World is what a restore may look at.
type World struct {
	Keeping request.Keeping `json:"keeping,omitzero"`
	// Rights are those of the requester. They are asked for until the source was found; each job asks once more by itself.
	Rights  request.Rights `json:"rights,omitzero"`
	Source  Source         `json:"source,omitzero"`
	Work    Work           `json:"work,omitzero"`
	Volumes Volumes        `json:"volumes,omitzero"`
	// Restored says that the objects were written; only the model says so.
	Restored bool `json:"restored,omitempty"`
}

// Source is what is known of what to restore from.
type Source struct {
	Sight      SourceSight            `json:"sight,omitempty"`
	Checkpoint *capturev1.ArtifactRef `json:"checkpoint,omitempty"` // if Found
}

// SourceSight is what live reads of the source said; "" is not read.
type SourceSight string

// The sights of a source.
const (
	Found      SourceSight = "Found"
	Unfinished SourceSight = "Unfinished" // the capture has not ended yet
	Unusable   SourceSight = "Unusable"   // the capture failed
	Absent     SourceSight = "Absent"     // the capture, or its checkpoint, does not exist
	Foreign    SourceSight = "Foreign"    // the checkpoint is not that of the capture, by the UIDs in it
	Privileged SourceSight = "Privileged" // the request is in the operator's own namespace, whose account is the manager's
)

// Stage is what a job is for.
type Stage string

// The stages. Each is begun in the phase that needs it.
const (
	Plan  Stage = "Plan"  // look at every name; with dryRun, have the API server try every write
	Apply Stage = "Apply" // write
	Look  Stage = "Look"  // look at what was written
)

// Work is what is known of the request's job. After a crash nothing is.
type Work struct {
	Stage  Stage     `json:"stage,omitempty"`
	State  WorkState `json:"state,omitempty"`
	Report *Report   `json:"report,omitempty"` // if it has Ended
}

// WorkState says how far a job is; "" is that there is none.
type WorkState string

// The states of a job.
const (
	Running WorkState = "Running"
	Ended   WorkState = "Ended"
	Stopped WorkState = "Stopped" // by an error that may pass
)

// Report is what a job found.
type Report struct {
	// Refusal is why the checkpoint cannot be restored at all; "" if it can.
	Refusal fsm.Reason `json:"refusal,omitempty"`
	Message string     `json:"message,omitempty"`
	// Objects is how many there are, Counts how many came to which result, and Results what
	// became of each, up to a limit.
	Objects int32                             `json:"objects,omitempty"`
	Counts  map[capturev1.RestoreResult]int32 `json:"counts,omitempty"`
	Results []capturev1.ObjectResult          `json:"results,omitempty"`
	// Awaits is the VolumeRestoreRequest whose claim must be there before the job can go on; ""
	// if it came to its end.
	Awaits string `json:"awaits,omitempty"`
	// Blind is how many names could not be looked at, because the account may not.
	Blind int32 `json:"blind,omitempty"`
	// Reasons counts the results that failed by their reason.
	Reasons map[fsm.Reason]int32 `json:"reasons,omitempty"`
}

// complete says that nothing failed and nothing is left.
func (r *Report) complete() bool {
	return r.Counts[capturev1.ResultFailed] == 0 && r.Counts[capturev1.ResultPending] == 0
}

// wrote says that something of ours is there.
func (r *Report) wrote() bool {
	return r.Counts[capturev1.ResultCreated] > 0 || r.Counts[capturev1.ResultReplaced] > 0
}

// Volumes are the VolumeRestoreRequests of this request, by a live read.
type Volumes struct {
	Listed bool `json:"listed,omitempty"`
	// Unsettled is the name of one that has not ended; "" if there is none.
	Unsettled string `json:"unsettled,omitempty"`
	// Unmade is the name of one that has neither ended nor made its claim; "" if there is none.
	Unmade string `json:"unmade,omitempty"`
}

// For names the job of a stage of a request.
func For(request types.UID, stage Stage) string { return string(request) + "/" + string(stage) }

// StageOf is the stage of a job that For named, if it is that of this request.
func StageOf(what string, request types.UID) (Stage, bool) {
	stage, ours := strings.CutPrefix(what, string(request)+"/")
	return Stage(stage), ours && request != ""
}

// ended is the report of the job of a stage, if it has ended.
func (w Work) ended(stage Stage) (*Report, bool) {
	return w.Report, w.Stage == stage && w.State == Ended && w.Report != nil
}
