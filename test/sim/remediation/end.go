package remediation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// stage tells apart what an execution does: its phase, and how far it is in executing.
func stage(obj *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	if phase != string(execution.Executing) {
		return phase
	}
	for _, far := range []string{"executionResults", "withdrawal", "jobUID"} {
		if has, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "status", far); has != nil {
			return phase + "-" + far
		}
	}
	if obj.GetAnnotations()[remediationv1.BegunAnnotation] != "" {
		return phase + "-begun"
	}
	return phase
}

// end: each execution says what is true, and the target is as they left it.
func (s *story) end(found []*unstructured.Unstructured) error {
	if err := s.collected(found); err != nil {
		return err
	}
	for _, x := range s.executions() {
		if x.Status.Effect == remediationv1.EffectUnknown && !s.lost[x.UID] {
			return fmt.Errorf("nobody knows what execution %s did, and no witness was lost", x.Name)
		}
	}
	return s.said()
}

// said says what is wrong with what all executions say of their effects, and what is left of them.
func (s *story) said() error {
	unknown := map[types.UID]bool{}
	for _, is := range s.executions() {
		if err := s.truth(is); err != nil {
			return err
		}
		if is.Status.Effect == remediationv1.EffectUnknown && !s.acknowledged[is.UID] {
			unknown[is.UID] = true
		}
	}
	switch m := s.mark(); {
	case m == nil && len(unknown) > 0:
		return errors.New("nobody knows what was done to the target, and it bears no mark")
	case m != nil && !unknown[m.By.UID]:
		return fmt.Errorf("the target is marked by %s", m.By.Title())
	}
	return s.left()
}

// others are the ends to which a fault may lead.
func (s *story) others() []sim.Other {
	return []sim.Other{{
		Name: "failed: ten minutes are more than validating may take", Faults: []sim.Fault{sim.ClockJump},
		Is: func() bool {
			is := s.find(s.main)
			return is != nil && is.Status.Phase == execution.Failed && reasonOf(is) == validationTimeout &&
				is.Status.Effect == remediationv1.EffectNone && s.node.effects[is.UID] == 0 && s.left() == nil
		},
	}, {
		Name: "its status was lost: it ended as its witnesses say, or nothing was done", Faults: []sim.Fault{sim.Wiped},
		Is: s.forgotten,
	}, {
		Name: "the target was changed: before the effect, which then did not happen, or after it", Faults: []sim.Fault{sim.Meddled},
		Is: s.overtaken,
	}}
}

// forgotten says that the execution whose status was lost ended in a way that it may, and that what is said of the
// effects is true.
func (s *story) forgotten() bool {
	is := s.find(s.main)
	return is != nil && execution.Ended(is) && is.Status.Plan == nil && s.said() == nil
}

// overtaken says that somebody changed what the action works on, and that the execution did what was approved, or nothing.
func (s *story) overtaken() bool {
	is := s.find(s.main)
	if is == nil || !s.endsOtherwise(is) || s.said() != nil {
		return false
	}
	switch is.Status.Phase {
	case execution.Completed:
		return is.Status.Effect == remediationv1.EffectApplied
	case execution.Failed:
		return reasonOf(is) == execution.ReasonTargetChanged && is.Status.Effect != remediationv1.EffectUnknown && s.node.effects[is.UID] == 0
	}
	return s.node.effects[is.UID] == 0
}

// validationTimeout is the reason of an execution whose checks did not end in time: the event's own name.
const validationTimeout = fsm.Reason(execution.ValidationTimeout)

// equal leaves out what names UIDs by hashes, and how long things took.
func (s *story) equal(obj *unstructured.Unstructured) {
	content, err := json.Marshal(obj.Object)
	if err != nil {
		return
	}
	plain := map[string]any{}
	if err := json.Unmarshal(s.named(content), &plain); err != nil {
		return
	}
	obj.Object = plain
	if _, marked := obj.GetAnnotations()[read.UnresolvedAnnotation]; obj.GetKind() == leaseKind.Kind && !marked {
		obj.Object = nil // an execution that has ended holds nothing, whether or not it came to reserve its target
		return
	}
	for _, field := range [][]string{
		{"status", "plan", "digest"}, {"status", "plan", "content"}, {"status", "approvalReceived", "planDigest"}, {"spec", "planDigest"},
		{"status", "before", "resourceVersion"}, {"status", "after", "resourceVersion"},
		{"status", "after", "values"}, // kept if the target could be read in that moment, beside the hash, which is the action's word
		{"status", "executionResults", "duration"}, {"status", "rollbackInformation", "estimatedRollbackDuration"},
	} {
		unstructured.RemoveNestedField(obj.Object, field...)
	}
	if obj.GetKind() == podKind.Kind { // it has its own volume for the token
		unstructured.RemoveNestedField(obj.Object, "spec")
	}
	if obj.GetKind() == deploymentKind.Kind { // somebody else may have written it, too
		for _, field := range [][]string{{"metadata", "annotations", "note"}, {"spec", "minReadySeconds"}, {"status"}} {
			unstructured.RemoveNestedField(obj.Object, field...)
		}
	}
}

// named calls Jobs by their executions.
func (s *story) named(content []byte) []byte {
	for _, x := range s.executions() {
		content = bytes.ReplaceAll(content, []byte(execution.JobName(x.UID)), []byte("job-of-"+x.Name))
		if p := x.Spec.Parent; p != nil {
			content = bytes.ReplaceAll(content, []byte(x.Name), fmt.Appendf(nil, "%s-%d-%t", p.Step, p.Attempt, p.Undo))
		}
	}
	return content
}
