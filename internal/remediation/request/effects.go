package request

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Effect is what a request may do, besides what every machine does with reservations.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// MakeAccount makes the ServiceAccount of an action and binds it to the action's role: targets are read with its rights.
type MakeAccount struct{ Action string }

// MarkBegun marks the request as begun. A request that bears the mark and has no status never makes an execution.
type MarkBegun struct{ UID types.UID }

// CreateExecution makes the execution for one try of a step. If it were wrong, a step would be carried out twice: so the
// try and the name are saved before, and the execution waits until its UID is saved, too.
type CreateExecution struct {
	Name    string
	Step    string
	Attempt int32
	Undo    bool
}

// CancelExecution sets spec.cancel of the very execution that was seen.
type CancelExecution struct {
	Name            string
	UID             types.UID
	ResourceVersion string
}

func (MakeAccount) effect()     {}
func (MarkBegun) effect()       {}
func (CreateExecution) effect() {}
func (CancelExecution) effect() {}

func (e MakeAccount) String() string { return "make-account " + e.Action }
func (e MarkBegun) String() string   { return "mark-begun" }

func (e CreateExecution) String() string {
	verb := "create-execution"
	if e.Undo {
		verb = "create-undo"
	}
	return fmt.Sprintf("%s %s %d", verb, e.Step, e.Attempt)
}
func (e CancelExecution) String() string { return "cancel-execution " + e.Name }

// Evidence implements fsm.Proven: another leader may have gone on since the request was read.
func (e CreateExecution) Evidence() string {
	return "the request bears its mark, try " + fmt.Sprint(e.Attempt) + " of step " + e.Step + " is saved, and no execution has its name"
}
