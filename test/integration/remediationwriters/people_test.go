package remediationwriters

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

type kx = remediationv1.KubernetesExecution

// The replicas of the Deployments that enlarge makes, and those that it asks for.
const few, many = 2, 5

// enlarge makes a Deployment, and an execution of the same name by which a user wants it to have more replicas.
func (s *stage) enlarge(as client.Client, name string, change ...func(*kx)) {
	s.Helper()
	s.must(s.admin.Create(s.Context(), s.deployment(name)))
	s.must(as.Create(s.Context(), s.wanting(name, many, change...)))
}

// wanting is an execution that gives the Deployment of the same name replicas.
func (s *stage) wanting(name string, replicas int, change ...func(*kx)) *kx {
	x := &kx{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: name},
			Parameters: map[string]apiextensionsv1.JSON{"replicas": {Raw: fmt.Appendf(nil, "%d", replicas)}},
		},
	}
	for _, c := range change {
		c(x)
	}
	return x
}

// approve approves the plan that an execution had when it was read.
func (s *stage) approve(x *kx, name string) {
	s.Helper()
	s.decide(x, name, func(*remediationv1.ExecutionApprovalSpec) {})
}

// decide makes a decision about the plan of an execution, once admission knows that plan.
func (s *stage) decide(x *kx, name string, change func(*remediationv1.ExecutionApprovalSpec)) *remediationv1.ExecutionApproval {
	s.Helper()
	a := &remediationv1.ExecutionApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: remediationv1.ExecutionApprovalSpec{
			ExecutionRef: remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}, PlanDigest: x.Status.Plan.Digest, Decision: remediationv1.Approved,
		},
	}
	change(&a.Spec)
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if err := s.olga.Create(s.Context(), a.DeepCopy()); err == nil || !strings.Contains(err.Error(), "look at its plan again") {
			s.must(err)
			return nil
		}
		return fmt.Errorf("admission does not know the plan of %s", x.Name)
	})
	return a
}

// suspend keeps all executions from being released until the returned function is called.
func (s *stage) suspend() (resume func()) {
	s.Helper()
	off := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: observe.SwitchName}, Data: map[string]string{"suspended": "true"}}
	s.must(s.admin.Create(s.Context(), off))
	resume = sync.OnceFunc(func() { s.must(s.admin.Delete(context.WithoutCancel(s.Context()), off)) })
	s.Cleanup(resume)
	return resume
}

// resized is what another user does to a Deployment.
func (s *stage) resized(name string, replicas int) {
	s.Helper()
	s.must(s.admin.Patch(s.Context(), s.deployment(name), merge(`{"spec":{"replicas":%d}}`, replicas)))
}

func (s *stage) hasReplicas(name string, want int32) {
	s.Helper()
	var d appsv1.Deployment
	s.must(s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &d))
	if *d.Spec.Replicas != want {
		s.Errorf("Deployment %s has %d replicas, want %d", name, *d.Spec.Replicas, want)
	}
}

// awaits waits until an execution waits for an approval and says that in these words, and nothing was released.
func (s *stage) awaits(name, words string) *kx {
	s.Helper()
	s.held(name, execution.ReasonAwaitingApproval, words)
	return s.execution(name)
}

// passes waits until a time is over.
func (s *stage) passes(at time.Time) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if !time.Now().After(at) {
			return fmt.Errorf("%s is not over", at)
		}
		return nil
	})
}

// message is what an execution says about being ready.
func message(x *kx) string {
	if ready := apimeta.FindStatusCondition(x.Status.Conditions, "Ready"); ready != nil {
		return ready.Message
	}
	return ""
}
