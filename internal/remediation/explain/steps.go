package explain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// RequestSections are the details of a request, as status shows them.
func RequestSections(obj *unstructured.Unstructured, _ time.Time) ([]explain.Section, error) {
	rr := &remediationv1.RemediationRequest{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, rr); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	return []explain.Section{stepsOf(rr), targetsOf(rr)}, nil
}

// stepsOf are the steps, each with the execution of its present try, and what is known of its effect.
func stepsOf(rr *remediationv1.RemediationRequest) explain.Section {
	s := explain.Section{Title: "Steps"}
	for i, wanted := range rr.Spec.Steps {
		lines := []string{call(wanted.Action, wanted.Parameters) + " on " + wanted.Target.Kind + " " + wanted.Target.Name}
		if i < len(rr.Status.Steps) {
			status := rr.Status.Steps[i]
			lines = append(lines, tryOf("", &status.StepRun)...)
			lines = append(lines, tryOf("Undo: ", status.Undo)...)
		}
		s.Add(wanted.Name, lines...)
	}
	return s
}

// tryOf is how carrying out a step goes, or taking it back.
func tryOf(what string, r *remediationv1.StepRun) (lines []string) {
	switch {
	case r == nil, r.Attempt == 0 && r.EndedAt == nil:
		return nil
	case r.Attempt == 0: // an execution that is not of the request took the step back
		return []string{title(what+string(r.Phase)) + ".", sentence(r.Message)}
	}
	line := fmt.Sprintf("%s%s, try %d", what, r.Phase, r.Attempt)
	if r.Execution != nil {
		line += " by KubernetesExecution " + r.Execution.Name
	}
	if r.Effect != "" {
		line += ", effect " + string(r.Effect)
	}
	if r.Reason != "" {
		line += " (" + string(r.Reason) + ")"
	}
	return []string{title(line) + ".", sentence(r.Message)}
}

// targetsOf are what is reserved for the request, from its beginning to its end.
func targetsOf(rr *remediationv1.RemediationRequest) explain.Section {
	s := explain.Section{Title: "Targets"}
	for _, t := range rr.Status.Targets {
		s.Add("Reserved", fmt.Sprintf("%s %s, UID %s", t.Kind, t.Name, t.UID))
	}
	return s
}
