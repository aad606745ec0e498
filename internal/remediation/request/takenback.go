package request

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// A person may take a step back by an execution of his own. The step's execution then says so, and that counts: an execution
// of the request would be refused, and to say that the step stands would be false.

// takenBack is the execution of a step that stands by the status, and that says that another execution took it back. After a
// rollback of the request that may have changed the target, the word of that one is believed, and of no other.
func takenBack(w World, s *remediationv1.StepStatus) (Child, bool) {
	if !w.Children.Looked || !stands(s) || s.Execution == nil {
		return Child{}, false
	}
	c, is := w.child(s.Execution.Name)
	if !is || c.Sight != presence.Here || c.UID != s.Execution.UID || c.Phase != execution.Failed || c.Reason != execution.ReasonRolledBack {
		return Child{}, false
	}
	return c, s.Undo == nil || isHarmless(s.Undo.Effect) || c.TakenBackBy == run{*s.Undo}.childUID()
}

// isTakenBack says that a step that is to be taken back was, by an execution that is not of the request.
func isTakenBack(in input, l lane) bool {
	_, is := takenBack(in.World, &in.Obj.Status.Steps[l.index])
	return is && l.undo
}

func fireTakenBack(in input, l lane) fsm.Decision {
	c, _ := takenBack(in.World, &in.Obj.Status.Steps[l.index])
	return fsm.Fire(TakenBack, ReasonStepUndone).Because("%s", saysTakenBack(c))
}

// isHarmless says that a try did not change its target.
func isHarmless(e remediationv1.Effect) bool {
	return e == "" || e == remediationv1.EffectNone || e == remediationv1.EffectNotApplied
}

// takenBackWords name the steps that were taken back by executions that the request did not wait for.
func takenBackWords(in input) (words string) {
	for i := range in.Obj.Status.Steps {
		s := &in.Obj.Status.Steps[i]
		if c, is := takenBack(in.World, s); is {
			words += " Step " + s.Name + " does not stand: " + saysTakenBack(c)
		}
	}
	return words
}

func saysTakenBack(c Child) string {
	if c.Message == "" {
		return "another execution took the action of KubernetesExecution " + c.Name + " back."
	}
	return c.Message
}

// saveTakenBack saves that a step was taken back, and by whom: its execution may be deleted later.
func saveTakenBack(s *remediationv1.StepStatus, c Child, now metav1.Time) {
	if s.Undo == nil {
		s.Undo = &remediationv1.StepRun{}
	}
	r := s.Undo
	if r.Phase != StepSucceeded { // a lane has moved it
		r.Place = meta.Place{Phase: StepSucceeded, Since: now}
	}
	if r.Effect == "" {
		r.Effect = remediationv1.EffectNone
	}
	if uid := (run{*r}).childUID(); uid != "" && uid == c.TakenBackBy {
		r.Effect = remediationv1.EffectApplied
	}
	r.EndedAt, r.Reason, r.Message = &now, "", fsm.Cut(saysTakenBack(c))
}
