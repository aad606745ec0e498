//go:build full

package remediation

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// overWithin is how long an execution may take under faults: its Job's time, and what a silent node takes.
const overWithin = timeout.Wait + 6*time.Minute

// once is a stage whose manager is a process that can be killed.
type once struct {
	*stage
	manager *product.Manager
	counted int32 // the replicas that the next execution asks for
}

func newOnce(t *testing.T) *once {
	t.Helper()
	b := bedtest.Nodes(t, 1)
	withoutDeployment(t, b)
	m := newManager(t, b)
	loadAction(t, b)
	m.Start()
	return &once{stage: stageOn(t, b), manager: m, counted: 2}
}

func newManager(t *testing.T, b *bed.Bed) *product.Manager {
	t.Helper()
	return product.NewManager(t, b, area, "--remediation-action-image="+product.Registry+"/action:0.0.0-dev")
}

// withoutDeployment removes the manager that other tests run in pods: its process is the one to be killed here.
func withoutDeployment(t *testing.T, b *bed.Bed) {
	t.Helper()
	for _, args := range [][]string{
		{"delete", "deployment", "-n", harness.SystemNamespace, "statecraft-" + area, "--ignore-not-found", "--cascade=foreground"},
		{"delete", "lease", "-n", harness.SystemNamespace, "statecraft-" + area, "--ignore-not-found"},
	} {
		if out, err := b.Kubectl(t.Context(), args...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// asks makes an execution that changes the Deployment, and says since when its effects count.
func (s *once) asks(name string) (x *remediationv1.KubernetesExecution, began time.Time) {
	s.Helper()
	another := func() { s.counted = 2 + (s.counted-1)%5 } // than the last one asked for
	if another(); s.replicas("web") == s.counted {
		another() // or there would be nothing to do
	}
	x = scale(name, "web", int(s.counted))
	x.Spec.TimeoutSeconds, x.Spec.FinalizeAfterSeconds = 60, 1
	began = time.Now()
	s.create(s.dora, x)
	return x, began
}

// over waits for the end of an execution.
func (s *once) over(name string) (x *remediationv1.KubernetesExecution) {
	s.Helper()
	harness.Eventually(s.T, overWithin, poll, func() error {
		if x = s.get(name); !execution.Ended(x) {
			return fmt.Errorf("%s is %s (%s): %s", name, x.Status.Phase, x.Status.Reason, x.Status.WaitingFor)
		}
		return nil
	})
	return x
}

// effects is how often an action has changed the Deployment since a moment, by the API server's own log.
func (s *once) effects(since time.Time) (n int) {
	s.Helper()
	user := "system:serviceaccount:" + s.namespace + ":" + execution.DefinitionAccount("scale_deployment")
	writes, err := s.bed.Writes(since, user)
	if err != nil {
		s.Fatal(err)
	}
	for _, w := range writes {
		if w.Resource == "deployments" && w.Code < 300 {
			n++
		}
	}
	return n
}

// truthful compares what an execution says with what happened: at most one effect, and no verdict that is wrong.
// It returns whether the outcome is unknown.
func (s *once) truthful(x *remediationv1.KubernetesExecution, began time.Time) (unknown bool) {
	s.Helper()
	n, is := s.effects(began), x.Status.Effect
	s.Logf("%s: %s, effect %s (%s); the Deployment was changed %d times", x.Name, x.Status.Phase, is, x.Status.Reason, n)
	switch {
	case n > 1:
		s.Errorf("%s had %d effects", x.Name, n)
	case is == remediationv1.EffectApplied && n != 1, is != remediationv1.EffectApplied && is != remediationv1.EffectUnknown && n != 0:
		s.Errorf("%s says %s (%s), and the Deployment was changed %d times", x.Name, is, message(x), n)
	}
	return is == remediationv1.EffectUnknown
}

// acknowledged frees a target whose state nobody knows: the next execution waits for that, and then goes on.
func (s *once) acknowledged(x *remediationv1.KubernetesExecution, name string) {
	s.Helper()
	next, began := s.asks(name)
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if is := s.get(next.Name); is.Status.Reason != execution.ReasonUnresolved {
			return fmt.Errorf("%s is %s (%s): %s", is.Name, is.Status.Phase, is.Status.Reason, is.Status.WaitingFor)
		}
		return nil
	})
	if n := s.effects(began); n != 0 {
		s.Errorf("%d effects on a target whose outcome is unknown", n)
	}
	s.acknowledge(x)
	if is := s.over(next.Name); is.Status.Effect != remediationv1.EffectApplied {
		s.Errorf("after the acknowledgement: %s, %s: %s", is.Status.Phase, is.Status.Effect, message(is))
	}
}

// acknowledge says, as a person who may, that the target of an execution was looked at.
func (s *stage) acknowledge(x *remediationv1.KubernetesExecution) {
	s.Helper()
	s.create(s.olga, &remediationv1.ExecutionApproval{Spec: remediationv1.ExecutionApprovalSpec{
		ExecutionRef: remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}, Decision: remediationv1.Acknowledged,
	}, ObjectMeta: metav1.ObjectMeta{Name: "seen-" + x.Name}})
}

// job is the Job of an execution; nil if there is none.
func (s *once) job(x *remediationv1.KubernetesExecution) *batchv1.Job {
	s.Helper()
	var job batchv1.Job
	key := client.ObjectKey{Namespace: s.namespace, Name: execution.JobName(x.UID)}
	if err := s.admin.Get(s.Context(), key, &job); client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	} else if err != nil {
		return nil
	}
	return &job
}

// pod is the pod of an execution; nil if there is none.
func (s *once) pod(x *remediationv1.KubernetesExecution) *corev1.Pod {
	s.Helper()
	var pods corev1.PodList
	if err := s.admin.List(s.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)}); err != nil {
		s.Fatal(err)
	}
	if len(pods.Items) == 0 {
		return nil
	}
	return &pods.Items[0]
}

// released waits until the Job of an execution is released and has its pod.
func (s *once) released(x *remediationv1.KubernetesExecution) (pod *corev1.Pod) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		job := s.job(x)
		if job == nil || ptr.Deref(job.Spec.Suspend, false) {
			return fmt.Errorf("the Job of %s is not released: %s", x.Name, s.get(x.Name).Status.WaitingFor)
		}
		if pod = s.pod(x); pod == nil {
			return fmt.Errorf("the Job of %s has no pod", x.Name)
		}
		return nil
	})
	return pod
}
