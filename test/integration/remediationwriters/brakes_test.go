package remediationwriters

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// braked is a manager whose brakes close soon.
func braked(l brake.Limits) remediation.Config {
	c := remediation.Defaults()
	c.Brakes = l
	return c
}

// TestBrakes: an execution is held by what others did, says by which brake and until when, and goes on by itself. A manager that
// was restarted finds the brakes as they were, because it reads them from the executions.
func TestBrakes(t *testing.T) {
	s := newStage(t)
	allowed := policy.Answer{Allow: true}
	limits := brake.Limits{Cooldown: 30 * time.Second, PerNamespace: 4, Failures: 1, Window: time.Hour}
	stop := s.manage(braked(limits), allowed)

	s.restart("first")
	s.runPod(s.until("first", "executing"))
	s.until("first", "completed")
	s.restart("second")
	s.held("second", execution.ReasonCoolingDown, "KubernetesExecution "+s.namespace+"/first did rollout_restart to the same target")
	s.runPod(s.until("second", "executing")) // the cooldown has ended
	s.until("second", "completed")

	for _, name := range []string{"third", "fourth"} {
		s.scale(name, 3)
		x := s.until(name, "executing")
		s.ended(s.podOf(x), action.Report{Effect: remediationv1.EffectNotApplied, Error: "the quota is used up"})
		s.until(name, "failed")
	}
	s.scale("fifth", 3)
	s.held("fifth", execution.ReasonStorm, s.namespace+"/fourth, "+s.namespace+"/third")
	stop()
	stop = s.manage(braked(limits), allowed)
	s.scale("sixth", 4)
	s.held("sixth", execution.ReasonStorm, s.namespace+"/fourth, "+s.namespace+"/third")

	stop()
	limits.Failures = 0
	stop = s.manage(braked(limits), allowed)
	s.held("fifth", execution.ReasonRateLimited, "which is 4 (--remediation-rate-per-namespace)")
	s.held("sixth", execution.ReasonRateLimited, "which is 4 (--remediation-rate-per-namespace)")
	stop()
	s.isSuspended(brake.Limits{}, allowed)
}

// isSuspended: without any brake the switch alone holds what waits, and it is read right before a Job is released.
func (s *stage) isSuspended(l brake.Limits, answer policy.Answer) {
	s.Helper()
	off := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: observe.SwitchName}, Data: map[string]string{"suspended": "true"}}
	s.must(s.admin.Create(s.Context(), off))
	s.manage(braked(l), answer)
	s.held("fifth", execution.ReasonSuspended, "All executions are suspended by ConfigMap "+observe.SwitchName)
	s.must(s.admin.Delete(s.Context(), off))
	var x *remediationv1.KubernetesExecution
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		for _, name := range []string{"fifth", "sixth"} {
			if x = s.execution(name); x.Status.ReleasedAt != nil {
				return nil
			}
		}
		return fmt.Errorf("neither was released: %s", x.Status.WaitingFor)
	})
}

// held waits until an execution is held by a brake, which says why in these words.
func (s *stage) held(name string, by fsm.Reason, words string) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		switch x := s.execution(name); {
		case x.Status.ReleasedAt != nil:
			s.Fatalf("%s was released at %s", name, x.Status.ReleasedAt)
		case x.Status.Reason != by || !strings.Contains(x.Status.WaitingFor, words):
			return fmt.Errorf("%s is %s (%s): %s", name, x.Status.Phase, x.Status.Reason, x.Status.WaitingFor)
		}
		return nil
	})
}

func (s *stage) restart(name string) {
	s.Helper()
	s.ask(name, remediationv1.KubernetesExecutionSpec{Action: "rollout_restart"})
}

func (s *stage) scale(name string, replicas int) {
	s.Helper()
	s.ask(name, remediationv1.KubernetesExecutionSpec{Action: "scale_deployment", Parameters: map[string]apiextensionsv1.JSON{"replicas": {Raw: fmt.Appendf(nil, "%d", replicas)}}})
}

func (s *stage) ask(name string, spec remediationv1.KubernetesExecutionSpec) {
	s.Helper()
	spec.Target = remediationv1.TargetRef{Kind: "Deployment", Name: "web"}
	s.must(s.dora.Create(s.Context(), &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Spec: spec}))
}
