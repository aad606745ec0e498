package remediation

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// isRunning is behind the phase of a request while its execution has not ended.
const isRunning fsm.Phase = "-running"

// aboutRequest makes a request what faults strike.
func (s *story) aboutRequest() {
	s.request = &remediationv1.RemediationRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "repair"},
		Spec: remediationv1.RemediationRequestSpec{
			OnFailure: remediationv1.OnFailureStop, DeadlineSeconds: 604800, RollbackDeadlineSeconds: 604800,
		},
	}
	if s.takesBack {
		s.request.Spec.OnFailure = remediationv1.OnFailureRollback
	}
	for i, replicas := range s.wants {
		x := s.execution("", replicas).Spec
		s.request.Spec.Steps = append(s.request.Spec.Steps, remediationv1.RemediationStep{
			Name: "step-" + strconv.Itoa(i+1), Action: x.Action, Target: x.Target, Parameters: x.Parameters,
			TimeoutSeconds: x.TimeoutSeconds, ApprovalTimeoutSeconds: x.ApprovalTimeoutSeconds, StartDeadlineSeconds: x.StartDeadlineSeconds,
		})
	}
	s.play.Main = sim.Ref{GroupVersionKind: requestKind, Key: client.ObjectKeyFromObject(s.request)}
	s.play.Phase, s.play.Others = s.stageOfRequest, s.otherRequests()
}

// stageOfRequest tells apart what a request does itself, and what its execution does. It is asked in the middle of a call, so it
// goes by what was seen of executions before.
func (s *story) stageOfRequest(obj *unstructured.Unstructured) string {
	rr := &remediationv1.RemediationRequest{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, rr); err != nil {
		return ""
	}
	for _, x := range request.Executions(rr) {
		if !s.over[x.UID] {
			return string(rr.Status.Phase + isRunning)
		}
	}
	return string(rr.Status.Phase)
}

func over(x *remediationv1.KubernetesExecution) bool {
	return execution.Ended(x) || x.Status.Phase == execution.RollbackReady
}

// executions are all that there are, as they were last written.
func (s *story) executions() (all []*remediationv1.KubernetesExecution) {
	for _, obj := range s.world.All(executionKind) {
		x := &remediationv1.KubernetesExecution{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, x); err == nil && x.Namespace == s.world.Namespace {
			all = append(all, x)
		}
	}
	return all
}

// findRequest is the request as it was last written; nil if it is not there.
func (s *story) findRequest() *remediationv1.RemediationRequest {
	is := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.request.Namespace, Name: s.request.Name}}
	if !s.world.Find(is) {
		return nil
	}
	return is
}

func (s *story) askRequest(ctx context.Context) error {
	return s.world.As(requester).Create(ctx, s.request)
}

// succeeds: both steps are carried out.
func (s *story) succeeds() []sim.Step {
	return []sim.Step{{Name: "ask for two steps", Do: s.askRequest, Until: s.untilRequest(request.Completed)}}
}

// rollsBack: the second step asks for what the first has done, so there is nothing to do and it fails; the first is taken back.
func (s *story) rollsBack() []sim.Step {
	return []sim.Step{{Name: "ask for two steps, of which the second fails", Do: s.askRequest, Until: s.untilRequest(request.RolledBack)}}
}

// isDeleted: the request is deleted while its first execution waits for a person, and takes that with it.
func (s *story) isDeleted() []sim.Step {
	return []sim.Step{
		{Name: "ask for two steps", Do: s.askRequest, Until: func() error {
			for _, x := range s.executions() {
				if x.Status.Phase == execution.WaitingApproval {
					return nil
				}
			}
			return errors.New("no execution waits for an approval")
		}},
		{Name: "delete the request", Do: func(ctx context.Context) error {
			return s.world.As(requester).Delete(ctx, s.request.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
		}, Until: func() error {
			if s.findRequest() != nil {
				return errors.New("the request is there")
			}
			return s.left()
		}},
	}
}

// untilRequest says that the request has ended so, and that its executions have.
func (s *story) untilRequest(phase fsm.Phase) func() error {
	return func() error {
		is := s.findRequest()
		switch {
		case is == nil || is.Status.Phase != phase:
			return fmt.Errorf("the request is not %s: %+v", phase, is)
		case len(is.Status.Targets) == 0:
			return errors.New("the request has forgotten what it has reserved")
		}
		return s.allEnded()
	}
}

func (s *story) allEnded() error {
	for _, x := range s.executions() {
		if !execution.Ended(x) {
			return fmt.Errorf("execution %s is %s: %s", x.Name, x.Status.Phase, x.Status.WaitingFor)
		}
	}
	return s.left()
}

// collected says that no execution is left of a request that was deleted.
func (s *story) collected(found []*unstructured.Unstructured) error {
	if s.request == nil || s.findRequest() != nil {
		return nil
	}
	for _, obj := range found {
		if obj.GetKind() == executionKind.Kind {
			return fmt.Errorf("execution %s of a request that was deleted is there", obj.GetName())
		}
	}
	return nil
}

// alwaysRequest: one step is under way at a time.
func (s *story) alwaysRequest() error {
	n := 0
	for _, x := range s.executions() {
		if x.Spec.Parent != nil && !over(x) {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("%d executions of the request are under way", n)
	}
	return nil
}

// otherRequests are the ends of a request to which a fault may lead.
func (s *story) otherRequests() []sim.Other {
	return []sim.Other{{
		Name: "a step failed: ten minutes are more than validating may take", Faults: []sim.Fault{sim.ClockJump},
		Is: func() bool {
			rr := s.findRequest()
			return rr != nil && request.Ended(rr) && s.allEnded() == nil && s.said() == nil && failedBy(rr, validationTimeout)
		},
	}, {
		Name: "its status was lost: it ended as its executions say, and made no other", Faults: []sim.Fault{sim.Wiped},
		Is: func() bool {
			rr := s.findRequest()
			lost := rr != nil && (request.IsLost(rr) || rr.Status.Phase == request.Completed)
			return lost && request.Ended(rr) && s.allEnded() == nil && s.said() == nil
		},
	}}
}

// failedBy says that a step, or taking it back, failed for this reason.
func failedBy(rr *remediationv1.RemediationRequest, why fsm.Reason) bool {
	for _, step := range rr.Status.Steps {
		if step.Reason == why || step.Undo != nil && step.Undo.Reason == why {
			return true
		}
	}
	return false
}
