package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// TestRollbacks: what another execution did is told of one that has ended and is not written any more. One that merely says so
// has done nothing.
func TestRollbacks(t *testing.T) {
	end := metav1.NewTime(at)
	for name, tc := range map[string]struct {
		change func(*remediationv1.KubernetesExecution)
		want   string
	}{
		"it did": {func(x *remediationv1.KubernetesExecution) {
			x.Status.ExecutionResults = &remediationv1.ExecutionResults{EndTime: &end}
		}, "took it back at " + explain.Moment(end) + "."},
		"it has not yet": {func(x *remediationv1.KubernetesExecution) {
			x.Status.Phase, x.Status.Effect = executing, remediationv1.EffectStarted
		}, "has not taken it back yet (phase executing)."},
		"it failed": {func(x *remediationv1.KubernetesExecution) {
			x.Status.Effect, x.Status.Reason = remediationv1.EffectNotApplied, "execution_failed"
		}, "changed nothing (reason execution_failed)."},
		"it is not known":    {func(x *remediationv1.KubernetesExecution) { x.Status.Effect = remediationv1.EffectUnknown }, "may have taken it back: a person must look at the target."},
		"it only says so":    {func(x *remediationv1.KubernetesExecution) { x.Status.Plan = nil }, "which has no plan and has changed nothing (phase failed)."},
		"it failed its test": {func(x *remediationv1.KubernetesExecution) { x.Status.Reason = "postcondition_failed" }, "took it back."},
	} {
		x := asked(failed, remediationv1.EffectApplied)
		tc.change(x)
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Rollbacks([]unstructured.Unstructured{{Object: object}})
		want := []explain.Entry{{Name: "By", Values: []string{"KubernetesExecution more, UID " + string(ours) + ", " + tc.want}}}
		if diff := cmp.Diff(want, s.Entries); diff != "" || err != nil {
			t.Errorf("%s: %s, %v", name, diff, err)
		}
	}
	if s, err := Rollbacks(nil); len(s.Entries) > 0 || err != nil {
		t.Errorf("%v, %v", s, err)
	}
}

// TestTheWayBackSaysWhatItLeaves out, before the approval and afterwards.
func TestTheWayBackSaysWhatItLeaves(t *testing.T) {
	const caveat = "Its inverse lets new pods onto the node; those that were evicted do not come back."
	x := asked(rollbackReady, remediationv1.EffectApplied)
	x.Status.Plan.Caveat = caveat
	x.Status.RollbackInformation = &remediationv1.RollbackInformation{Available: true, RollbackAction: "uncordon_node", Caveat: caveat}
	for _, s := range []explain.Section{Plan(x, at), wayBack(x)} {
		said := ""
		for _, e := range s.Entries {
			if e.Name == "Note" {
				said += e.Values[0]
			}
		}
		if said != caveat {
			t.Errorf("%s: %q", s.Title, said)
		}
	}
}
