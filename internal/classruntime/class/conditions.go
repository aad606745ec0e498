package class

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Ready says that the spec is reached, so that kubectl wait and kstatus wait for an edit. Serving says whether somebody
// answers, whatever is being changed: that is what a person is woken for.

// conditions are Available, Progressing and Degraded, which follow from the phase, and what the phase does not tell of
// Ready and Stalled.
func conditions(in input, d fsm.Decision) []metav1.Condition {
	phase := in.Obj.Status.Phase
	d = ownWords(in, d)
	own := []metav1.Condition{
		is(runtimev1.Progressing, phase != Available && phase != Degraded, phase),
		inWords(is(runtimev1.Available, phase == Available, phase), d),
		is(runtimev1.Degraded, phase == Degraded, phase),
	}
	if phase == Degraded && !slices.Contains(passing, d.Reason) {
		own = append(own, metav1.Condition{Type: fsm.Stalled, Status: metav1.ConditionTrue})
	}
	switch {
	case phase == Available && d.Held: // what is paused is ready, and not as the spec asks for
		own = append(own, metav1.Condition{Type: fsm.Ready, Status: metav1.ConditionFalse})
	case phase == Available:
		ready := metav1.Condition{Type: fsm.Ready, Status: metav1.ConditionTrue}
		own = append([]metav1.Condition{inWords(ready, d)}, own...)
	}
	return own
}

// ownWords are those of the class itself. A lane that waits, or an effect of one that failed, says nothing about whether functions are ready.
func ownWords(in input, d fsm.Decision) fsm.Decision {
	if in.Obj.Status.Phase == Available && len(enforced(in)) > 0 && !d.Held && d.Reason != fsm.Circling {
		return settled(in, 0)
	}
	return d
}

// inWords is a condition that holds, in the words of a decision.
func inWords(c metav1.Condition, d fsm.Decision) metav1.Condition {
	if c.Status == metav1.ConditionTrue {
		c.Reason, c.Message = string(d.Reason), fsm.Cut(d.Message)
	}
	return c
}

// passing are the reasons of a degraded class that may pass by themselves. Any other needs a person, so that a tool that
// waits for the class sees that it has failed.
var passing = []fsm.Reason{ReasonCrashLoop, ReasonPaused, ReasonNotLooked, ReasonRemovingOrphans}

// is a condition: one that is true has the reason and the words of the decision, any other is explained by the phase.
func is(kind string, holds bool, phase fsm.Phase) metav1.Condition {
	if holds {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue}
	}
	return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: string(phase), Message: fmt.Sprintf("The class is %s.", phase)}
}

// Reasons of the condition Serving.
const (
	ReasonAnswering fsm.Reason = "Answering" // every function that wants a replica has a pod that is ready
	ReasonSilent    fsm.Reason = "Silent"    // a function has no pod that is ready
	ReasonZero      fsm.Reason = "Zero"      // the spec asks for no replica at all
)

// serving says whether every function that wants a replica has a pod that is ready and not leaving. The evidence is the
// pods themselves, so it holds in every phase, and while an effect backs off.
func serving(w World) metav1.Condition {
	c := metav1.Condition{Type: runtimev1.Serving, Status: metav1.ConditionTrue, Reason: string(ReasonAnswering), Message: "Every function that wants a replica has a pod that is ready."}
	wants := false
	for _, f := range w.Functions {
		if f.Floor == 0 && f.Rollout.Desired == 0 && f.Invalid == "" { // of one that cannot be built nobody knows what it asks for
			continue
		}
		wants = true
		if f.answering() == 0 {
			c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(ReasonSilent), fmt.Sprintf("No pod of function %s is ready.", f.Key)
			return c
		}
	}
	if !wants {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(ReasonZero), "The spec asks for no replica of any function."
	}
	return c
}
