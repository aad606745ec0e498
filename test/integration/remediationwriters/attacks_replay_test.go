package remediationwriters

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// reset asks for what objects of other kinds do: begin anew.
func (s *stage) reset(x *kx) {
	s.Helper()
	s.must(s.dora.Patch(s.Context(), x.DeepCopy(), merge(`{"metadata":{"annotations":{%q:%q}}}`, fsm.ResetAnnotation, time.Now().Add(time.Second).UTC().Format(time.RFC3339))))
}

// TestAResetReplaysNothing: the annotation that sends other objects back to their start is no replay button. An execution that has
// ended stays ended, and one that waits keeps its plan and its approval.
func TestAResetReplaysNothing(t *testing.T) {
	s := newStage(t)
	s.manage(braked(brake.Limits{}), approved)
	s.repair("done")
	done := s.execution("done")
	resume := s.suspend()
	s.enlarge(s.dora, "waits", func(x *kx) {
		x.Annotations = map[string]string{fsm.ResetAnnotation: time.Now().UTC().Format(time.RFC3339)} // from the start
	})
	waits := s.until("waits", "waiting_approval")
	s.approve(waits, "waits")
	s.held("waits", execution.ReasonSuspended, "All executions are suspended by ConfigMap")
	since := time.Now()
	s.reset(done)
	s.reset(waits)
	s.passes(since.Add(2 * time.Second)) // so that the time that the annotation says is over
	resume()
	s.carriedOut("waits", "waits", waits.Status.Plan.Digest)
	if is := s.execution("waits"); is.Status.Plans != 1 {
		t.Errorf("it was planned %d times", is.Status.Plans)
	}
	s.reset(s.execution("waits"))
	s.repair("other") // the manager has looked at the others meanwhile
	for _, was := range []*kx{done, s.execution("waits")} {
		is := s.execution(was.Name)
		if is.Status.Phase != was.Status.Phase || is.Status.JobUID != was.Status.JobUID || is.Status.Plans != was.Status.Plans || len(is.Status.History) != len(was.Status.History) {
			t.Errorf("%s is %+v", was.Name, is.Status)
		}
		var pods corev1.PodList
		s.must(s.admin.List(t.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(was.UID)}))
		if len(pods.Items) > 1 { // one that has ended may be collected: its node does not exist
			t.Errorf("%s has %d pods", was.Name, len(pods.Items))
		}
	}
	s.hasReplicas("waits", many)
}

// TestWhatAdmissionCannotRefuse is refused by the manager: an action that does not exist, an approval that is over before it is made, and
// one of an execution that was made again with other parameters.
func TestWhatAdmissionCannotRefuse(t *testing.T) {
	s := newStage(t)
	s.manage(braked(brake.Limits{}), approved)
	s.enlarge(s.dora, "unknown", func(x *kx) { x.Spec.Action = "format_disk" })
	s.enlarge(s.dora, "over")
	s.enlarge(s.dora, "again")

	x := s.until("unknown", "failed")
	const says = "There is no ActionDefinition format-disk, so the action format_disk does not exist."
	if x.Status.Reason != execution.ReasonInvalid || message(x) != says || x.Status.Effect != remediationv1.EffectNone {
		t.Errorf("it ended for %s with effect %s: %s\nwant %s", x.Status.Reason, x.Status.Effect, message(x), says)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: remediationv1.AccountPrefix + "format-disk"}}
	if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(account), account); !apierrors.IsNotFound(err) {
		t.Errorf("an account was made for an action that does not exist: %v", err)
	}

	until := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	s.decide(s.until("over", "waiting_approval"), "over", func(a *remediationv1.ExecutionApprovalSpec) { a.ValidUntil = &until })
	s.awaits("over", "ExecutionApproval over of user olga does not count: it ended at "+until.UTC().Format(time.RFC3339)+".")

	before, resume := s.until("again", "waiting_approval"), s.suspend()
	s.approve(before, "again")
	s.held("again", execution.ReasonSuspended, "All executions are suspended by ConfigMap")
	s.must(s.dora.Delete(t.Context(), before.DeepCopy()))
	s.must(s.dora.Create(t.Context(), s.wanting("again", 50)))
	after := s.awaits("again", "Waiting for a person with the right to approve it to decide on this plan")
	resume()
	s.decide(after, "again-now", func(a *remediationv1.ExecutionApprovalSpec) { a.Decision = remediationv1.Rejected })
	if x = s.until("again", "failed"); x.Status.Reason != execution.ReasonRejected || x.Status.ReleasedAt != nil {
		t.Errorf("it ended for %s: %s", x.Status.Reason, message(x))
	}
	s.neverRan(x)
	for _, name := range []string{"unknown", "over", "again"} {
		s.hasReplicas(name, few)
	}
	if x = s.awaits("over", "it ended at"); !strings.Contains(x.Status.WaitingFor, "Waiting for a person with the right to approve it") {
		t.Error(x.Status.WaitingFor)
	}
	harness.Row(t, "3 attacks that only the manager can refuse")
}
