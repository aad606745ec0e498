package remediation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// tale is how executions fare.
type tale struct {
	asks    bool                                // the policy wants a person to approve
	steps   func(*story) []sim.Step             // what people do
	events  []event                             // what others do in the middle of it
	calm    []fsm.Phase                         // in which no fault strikes: another tale is about them
	meddles func(*story, context.Context) error // what somebody does at one call or another; nil: nobody does

	wants     []int // a request: the replicas that each step asks for; empty: there is no request
	takesBack bool  // the request takes back what was done if a step fails
}

// story is a tale being told.
type story struct {
	tale
	world       *sim.World
	play        *sim.Play
	policy      *policyfake.Fake
	node        *node
	target      *appsv1.Deployment
	first, then *remediationv1.KubernetesExecution // then is made when first is over
	main        *remediationv1.KubernetesExecution // the one of the two that faults strike
	request     *remediationv1.RemediationRequest  // nil if the story is about executions alone

	happened     map[int]bool            // of events
	lost         map[types.UID]bool      // executions whose witnesses were removed
	acknowledged map[types.UID]bool      // executions
	approved     map[string]bool         // digests of plans
	over         map[types.UID]bool      // executions that were seen to have ended
	saved        map[types.UID]types.UID // the Job that the manager has saved last for an execution
	meddled      bool                    // somebody has changed what the action works on
	forgets      bool                    // that a status is lost is what the story is about
}

func (t tale) open(w *sim.World) *sim.Play {
	s := &story{
		tale: t, world: w, policy: policyfake.Allowing(),
		happened: map[int]bool{}, lost: map[types.UID]bool{}, acknowledged: map[types.UID]bool{}, approved: map[string]bool{},
		over: map[types.UID]bool{}, saved: map[types.UID]types.UID{},
	}
	answer := policy.Answer{Allow: true, RequireDryRun: true, RequireApproval: t.asks}
	if t.asks {
		answer.Reasons = []string{"people look at what is done here"}
	}
	s.policy.Set(answer)
	s.node = newNode(s)
	s.first, s.then = s.execution("more", 5), s.execution("next", 4)
	s.play = &sim.Play{
		Build: s.build, Meanwhile: s.node.meanwhile, Phase: stage, Always: s.always, End: s.end, Equal: s.equal, Others: s.others(),
		Calm: func(phase string) bool { return slices.Contains(t.calm, fsm.Phase(phase)) },
	}
	if t.meddles != nil {
		s.play.Meddle = func(ctx context.Context) error {
			if !s.world.Find(s.deployment()) {
				return nil
			}
			return t.meddles(s, ctx)
		}
	}
	s.about(s.first)
	if len(t.wants) > 0 {
		s.aboutRequest()
	}
	s.play.Steps = append([]sim.Step{{Name: "make a Deployment", Do: s.prepare, Until: func() error { return nil }, Calm: true}}, t.steps(s)...)
	return s.play
}

// about makes one execution that which faults strike.
func (s *story) about(x *remediationv1.KubernetesExecution) {
	s.main = x
	s.play.Main = sim.Ref{GroupVersionKind: executionKind, Key: client.ObjectKeyFromObject(x)}
}

// find is an execution as it was last written; nil if it is not there.
func (s *story) find(x *remediationv1.KubernetesExecution) *remediationv1.KubernetesExecution {
	is := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name}}
	if !s.world.Find(is) {
		return nil
	}
	return is
}

// until says that an execution is in a phase, with a reason if that is given, and nothing is left to be swept.
func (s *story) until(x *remediationv1.KubernetesExecution, phase fsm.Phase, reason fsm.Reason) func() error {
	return func() error {
		is := s.find(x)
		switch {
		case is == nil:
			return fmt.Errorf("execution %s is gone", x.Name)
		case s.endsOtherwise(is):
			return sim.ErrOtherEnd
		case is.Status.Phase != phase || reason != "" && reasonOf(is) != reason:
			return fmt.Errorf("execution %s is %q: %s: %s", x.Name, is.Status.Phase, reasonOf(is), is.Status.WaitingFor)
		}
		return errors.Join(s.forgot(), s.left())
	}
}

// endsOtherwise says that what was approved was changed by somebody, and the execution will not do anything more.
func (s *story) endsOtherwise(x *remediationv1.KubernetesExecution) bool {
	if !s.meddled {
		return false
	}
	p := x.Status.Plan
	waits := x.Status.Phase == execution.WaitingApproval && len(s.approved) > 0 && p != nil && !s.approved[p.Digest]
	return waits || execution.Ended(x) && s.left() == nil
}

// forgot says that the status of the main execution was lost, and with it what was planned.
func (s *story) forgot() error {
	if is := s.find(s.main); is != nil && is.Status.Plan == nil && !s.forgets {
		return fmt.Errorf("execution %s has forgotten its plan", is.Name)
	}
	return nil
}

// reasonOf is why an execution is in its phase.
func reasonOf(x *remediationv1.KubernetesExecution) (reason fsm.Reason) {
	if move, is := x.Status.LastMove(x.Status.Phase); is {
		return move.Reason
	}
	return x.Status.Reason
}

// held says that the second execution waits for somebody to look at what the first one did.
func (s *story) held() error {
	is := s.find(s.then)
	if is == nil || is.Status.Reason != execution.ReasonUnresolved {
		return fmt.Errorf("the second execution is not held: %+v", is)
	}
	return s.forgot()
}
