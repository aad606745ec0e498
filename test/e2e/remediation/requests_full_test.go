//go:build full

package remediation

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestRequests carries out requests of several steps. Each test has Deployments of its own: the same is not done twice to one
// within minutes.
func TestRequests(t *testing.T) {
	s := newStage(t)
	t.Run("three steps succeed", func(t *testing.T) { s.of(t).succeeds() })
	t.Run("the second step fails, and the first stands", func(t *testing.T) { s.of(t).stops() })
	t.Run("the second step fails, and the first is taken back", func(t *testing.T) { s.of(t).rollsBack() })
	t.Run("two requests on the same targets", func(t *testing.T) { s.of(t).crosses() })
}

func (s *stage) succeeds() {
	s.Helper()
	s.create(s.dora, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "queue"}, Data: map[string]string{"of": "main"}})
	s.asks("repair", remediationv1.OnFailureStop,
		stepOn("ConfigMap", "queue", "update_configmap", `{"data":{"of":"spare"}}`),
		stepOn("Deployment", "web", "scale_deployment", `{"replicas":3}`),
		stepOn("Deployment", "web", "rollout_restart", ""))
	rr := s.untilRequest("repair", request.Completed)
	for _, step := range rr.Status.Steps {
		if step.Effect != remediationv1.EffectApplied || step.Attempt != 1 {
			s.Errorf("step %s: try %d, effect %s: %s", step.Name, step.Attempt, step.Effect, step.Message)
		}
		s.until(step.Execution.Name, "completed") // with its request, and not five minutes later
	}
	if rr.Status.StepsCompleted != "3/3" || len(rr.Status.Targets) != 2 || s.replicas("web") != 3 {
		s.Errorf("%s of steps on %d targets, and web has %d replicas", rr.Status.StepsCompleted, len(rr.Status.Targets), s.replicas("web"))
	}
}

// broken is a step that fails when it is checked: there is no such container.
func broken(target string) remediationv1.RemediationStep {
	return stepOn("Deployment", target, "update_image", `{"container":"none","image":"image.invalid/none:2"}`)
}

func (s *stage) stops() {
	s.Helper()
	s.deploy("till", 1)
	s.asks("stops", remediationv1.OnFailureStop, stepOn("Deployment", "till", "scale_deployment", `{"replicas":2}`), broken("till"),
		stepOn("Deployment", "till", "rollout_restart", ""))
	rr := s.untilRequest("stops", request.Failed)
	if why := s.reasonOf(rr); why != request.ReasonFailed || s.replicas("till") != 2 {
		s.Errorf("%s, and till has %d replicas", why, s.replicas("till"))
	}
	if last := rr.Status.Steps[2]; last.Attempt != 0 {
		s.Errorf("the third step was begun: %+v", last)
	}
}

func (s *stage) rollsBack() {
	s.Helper()
	s.deploy("cart", 1)
	s.asks("rolls-back", remediationv1.OnFailureRollback, stepOn("Deployment", "cart", "scale_deployment", `{"replicas":2}`), broken("cart"))
	rr := s.untilRequest("rolls-back", request.RolledBack)
	first := rr.Status.Steps[0]
	if s.replicas("cart") != 1 || first.Undo == nil || first.Undo.Effect != remediationv1.EffectApplied || rr.Status.StepsCompleted != "0/2" {
		s.Errorf("cart has %d replicas, %s of steps: %+v", s.replicas("cart"), rr.Status.StepsCompleted, first.Undo)
	}
	s.until(first.Execution.Name, "failed") // rolled_back
}

// crosses makes two requests for the same targets in opposite order at once.
func (s *stage) crosses() {
	s.Helper()
	s.deploy("left", 1)
	s.deploy("right", 1)
	s.asks("restarts", remediationv1.OnFailureStop, stepOn("Deployment", "left", "rollout_restart", ""), stepOn("Deployment", "right", "rollout_restart", ""))
	s.asks("scales", remediationv1.OnFailureStop, stepOn("Deployment", "right", "scale_deployment", `{"replicas":2}`), stepOn("Deployment", "left", "scale_deployment", `{"replicas":2}`))
	a, b := s.untilRequest("restarts", request.Completed), s.untilRequest("scales", request.Completed)
	if !slices.Equal(a.Status.Targets, b.Status.Targets) {
		s.Errorf("targets are reserved in different orders: %v, %v", a.Status.Targets, b.Status.Targets)
	}
	began := func(rr *remediationv1.RemediationRequest) metav1.Time {
		move, _ := rr.Status.LastMove(request.Executing)
		return move.At
	}
	if one, other := began(a), began(b); one.Before(b.Status.CompletionTimestamp) && other.Before(a.Status.CompletionTimestamp) {
		s.Errorf("both had the targets at a time: %s to %s, and %s to %s", one, a.Status.CompletionTimestamp, other, b.Status.CompletionTimestamp)
	}
}

// stepOn is a step that is called as its action and its target.
func stepOn(kind, target, action, parameters string) remediationv1.RemediationStep {
	step := remediationv1.RemediationStep{Name: fmt.Sprintf("%.4s-%s", action, target), Action: action, Target: remediationv1.TargetRef{Kind: kind, Name: target}}
	if parameters != "" {
		if err := json.Unmarshal([]byte(parameters), &step.Parameters); err != nil {
			panic(err) // a slip of the pen
		}
	}
	return step
}

func (s *stage) asks(name string, onFailure remediationv1.OnFailure, steps ...remediationv1.RemediationStep) {
	s.Helper()
	s.create(s.dora, &remediationv1.RemediationRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: remediationv1.RemediationRequestSpec{OnFailure: onFailure, Steps: steps},
	})
}

// untilRequest waits for a phase.
func (s *stage) untilRequest(name string, phase fsm.Phase) *remediationv1.RemediationRequest {
	s.Helper()
	rr := &remediationv1.RemediationRequest{}
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, rr); err != nil {
			return err
		}
		if rr.Status.Phase != phase {
			return fmt.Errorf("%s is %s (%s): %s", name, rr.Status.Phase, rr.Status.Reason, rr.Status.WaitingFor)
		}
		return nil
	})
	return rr
}

func (s *stage) reasonOf(rr *remediationv1.RemediationRequest) fsm.Reason {
	if ready := apimeta.FindStatusCondition(rr.Status.Conditions, fsm.Ready); ready != nil {
		return fsm.Reason(ready.Reason)
	}
	return ""
}
