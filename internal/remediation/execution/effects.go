package execution

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Effect is what an execution may do, besides what every machine does with reservations.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// MakeAccount makes the ServiceAccount of the action and binds it to the action's role.
type MakeAccount struct{ Account string }

// MarkBegun marks the execution as begun. An execution that bears the mark and has no status never
// makes a Job.
type MarkBegun struct{ UID types.UID }

// CreateJob makes the Job, suspended. If it were wrong there would be a second Job for an execution
// that had its effect: so it is made only for an execution that bears its mark, in its present version.
type CreateJob struct{}

// RecordIntent appends what is about to be done to the audit records. If it were missing, a user who removed the
// execution would remove all trace of who asked for it.
type RecordIntent struct{}

// ReleaseJob lets the very Job run that was seen. If it were wrong, an action would be done that
// no person approved, and it cannot be called back.
type ReleaseJob struct {
	UID             types.UID
	ResourceVersion string
	Plan            string
}

// DeleteJob deletes the very Job that was seen suspended. If it were wrong, the only witness of an
// action that runs would be lost.
type DeleteJob struct {
	UID             types.UID
	ResourceVersion string
}

func (MakeAccount) effect()  {}
func (MarkBegun) effect()    {}
func (CreateJob) effect()    {}
func (RecordIntent) effect() {}
func (ReleaseJob) effect()   {}
func (DeleteJob) effect()    {}

func (e MakeAccount) String() string  { return "make-account " + e.Account }
func (e MarkBegun) String() string    { return "mark-begun" }
func (e CreateJob) String() string    { return "create-job" }
func (e RecordIntent) String() string { return "record-intent" }
func (e ReleaseJob) String() string   { return "release-job" }
func (e DeleteJob) String() string    { return "delete-job" }

// Evidence implements fsm.Proven: another leader may have gone on since the execution was read.
func (e CreateJob) Evidence() string { return "the execution bears its mark, and there is no Job" }

// Evidence implements fsm.Proven.
func (e ReleaseJob) Evidence() string {
	return "the Job is saved and was never released, and plan " + e.Plan + " was looked at once more"
}

// Evidence implements fsm.Proven.
func (e DeleteJob) Evidence() string { return "the Job is suspended and has no pod" }
