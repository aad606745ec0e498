//go:build full

package remediation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestRequestsWithAnUnknownStep: of the second of three steps nothing is left that says what it did. The request ends and says
// so; although it asks for a rollback, no step is carried out or taken back any more. The next request on that
// target waits for a person.
func TestRequestsWithAnUnknownStep(t *testing.T) {
	s := newOnce(t)
	s.production() // each step waits for an approval, and so begins when the test says so
	s.deploy("till", 1)
	began := time.Now()
	s.stage.asks("repair", remediationv1.OnFailureRollback,
		stepOn("Deployment", "web", "scale_deployment", `{"replicas":3}`),
		stepOn("Deployment", "till", "scale_deployment", `{"replicas":2}`),
		stepOn("Deployment", "web", "rollout_restart", ""))
	s.approved(s.stepOf("repair", 0))
	lost := s.stepOf("repair", 1)
	s.losesItsWitnesses(lost)

	rr := s.untilRequest("repair", request.Failed)
	s.saysWhatIsUnknown(rr)
	if n := s.effects(began); n != 1 || s.replicas("web") != 3 || s.replicas("till") != 1 {
		t.Errorf("%d effects, web has %d replicas, till has %d", n, s.replicas("web"), s.replicas("till"))
	}
	s.until(rr.Status.Steps[0].Execution.Name, "completed") // it stands, and its request has ended

	s.waitsForAnAcknowledgement(lost)
	after := s.untilRequest("repair", request.Failed)
	s.saysWhatIsUnknown(after)
	if after.ResourceVersion != rr.ResourceVersion {
		t.Errorf("a request that had ended was written to: %+v", after.Status)
	}
}

// stepOf waits until the execution of a step waits for its approval.
func (s *stage) stepOf(name string, i int) *remediationv1.KubernetesExecution {
	s.Helper()
	rr := &remediationv1.RemediationRequest{}
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, rr); err != nil {
			return err
		}
		if len(rr.Status.Steps) <= i || rr.Status.Steps[i].Execution == nil || rr.Status.Steps[i].Execution.UID == "" {
			return fmt.Errorf("%s is %s (%s), and has not begun step %d: %s", name, rr.Status.Phase, rr.Status.Reason, i+1, rr.Status.WaitingFor)
		}
		return nil
	})
	return s.until(rr.Status.Steps[i].Execution.Name, "waiting_approval")
}

// losesItsWitnesses approves a step, and removes its Job and its pod once that is there: it does not run, and nobody knows.
func (s *once) losesItsWitnesses(x *remediationv1.KubernetesExecution) {
	s.Helper()
	s.cordon(true)
	s.approved(x)
	s.released(x)
	s.manager.Kill() // or it may see how the pod ends
	s.loseWitnesses(x)
	s.cordon(false)
	s.manager.Start()
}

// saysWhatIsUnknown looks whether a request names the step, and who must do what, and whether it left everything else alone.
func (s *stage) saysWhatIsUnknown(rr *remediationv1.RemediationRequest) {
	s.Helper()
	ready := apimeta.FindStatusCondition(rr.Status.Conditions, fsm.Ready)
	if ready == nil || fsm.Reason(ready.Reason) != request.ReasonOutcomeUnknown {
		s.Fatalf("%+v", ready)
	}
	for _, words := range []string{
		"It is unknown what step scal-till did, so no step is tried again or taken back: No witness says whether the target was changed",
		"Look at the target; then a person with the right to approve acknowledges it by an ExecutionApproval with decision Acknowledged.",
		"These steps stand: scal-web.",
	} {
		if !strings.Contains(ready.Message, words) {
			s.Errorf("the request does not say %q, but: %s", words, ready.Message)
		}
	}
	first, second, third := rr.Status.Steps[0], rr.Status.Steps[1], rr.Status.Steps[2]
	switch {
	case first.Effect != remediationv1.EffectApplied || first.Undo != nil:
		s.Errorf("the first step: %+v", first)
	case second.Effect != remediationv1.EffectUnknown || second.Attempt != 1 || second.Undo != nil:
		s.Errorf("the second step: %+v", second)
	case third.Attempt != 0 || third.Execution != nil:
		s.Errorf("the third step was begun: %+v", third)
	}
	made := &remediationv1.KubernetesExecutionList{}
	if err := s.admin.List(s.Context(), made, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.RequestLabel: string(rr.UID)}); err != nil {
		s.Fatal(err)
	}
	if len(made.Items) != 2 {
		s.Errorf("the request made %d executions, want one for each of two steps", len(made.Items))
	}
}

// waitsForAnAcknowledgement makes another request for the target of an execution whose outcome is unknown. It does nothing, although its
// step is approved, until a person has acknowledged that outcome.
func (s *once) waitsForAnAcknowledgement(lost *remediationv1.KubernetesExecution) {
	s.Helper()
	began := time.Now()
	s.stage.asks("again", remediationv1.OnFailureStop, stepOn("Deployment", "till", "scale_deployment", `{"replicas":3}`))
	x := s.stepOf("again", 0)
	s.approved(x)
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if is := s.get(x.Name); is.Status.Reason != execution.ReasonUnresolved {
			return fmt.Errorf("%s is %s (%s): %s", is.Name, is.Status.Phase, is.Status.Reason, is.Status.WaitingFor)
		}
		rr := &remediationv1.RemediationRequest{}
		if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "again"}, rr); err != nil {
			return err
		}
		if !strings.Contains(rr.Status.WaitingFor, "to acknowledge the unknown outcome of KubernetesExecution") {
			return fmt.Errorf("the request waits for: %s", rr.Status.WaitingFor)
		}
		return nil
	})
	if n := s.effects(began); n != 0 {
		s.Errorf("%d effects on a target whose outcome is unknown", n)
	}
	s.acknowledge(lost)
	if s.untilRequest("again", request.Completed); s.replicas("till") != 3 {
		s.Errorf("till has %d replicas", s.replicas("till"))
	}
}
