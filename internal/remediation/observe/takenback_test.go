package observe

import (
	"testing"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// TestARollbackCounts by what it did to the target, and not by how it ended.
func TestARollbackCounts(t *testing.T) {
	applied, notApplied, unknown := remediationv1.EffectApplied, remediationv1.EffectNotApplied, remediationv1.EffectUnknown
	for name, tc := range map[string]struct {
		phase  fsm.Phase
		effect remediationv1.Effect
		reason fsm.Reason // of the result
		want   bool
	}{
		"it succeeded":                      {execution.Completed, applied, "", true},
		"its own postcondition failed":      {execution.Failed, applied, "", true},
		"its postconditions are awaited":    {execution.Executing, applied, "", true},
		"it was done in part":               {execution.Failed, applied, execution.ReasonIncomplete, false},
		"it changed nothing":                {execution.Failed, notApplied, execution.ReasonExecutionFailed, false},
		"it is not known what it did":       {execution.Failed, unknown, execution.ReasonOutcomeUnknown, false},
		"it was not released":               {execution.Failed, remediationv1.EffectNone, "", false},
		"it says so, and nothing was saved": {execution.Failed, applied, "lost", false},
	} {
		by := &remediationv1.KubernetesExecution{}
		by.Status.Phase, by.Status.Effect = tc.phase, tc.effect
		if tc.reason != "lost" {
			by.Status.ExecutionResults = &remediationv1.ExecutionResults{Success: tc.effect == applied && tc.reason == "", Reason: tc.reason}
		}
		if got := hasTakenBack(by); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
