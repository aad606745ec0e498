package remediationaudit

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area = "remediation"
	poll = 50 * time.Millisecond // between two looks
)

// stage is a cluster with a manager that records in a database, and a Deployment.
type stage struct {
	*database
	bed       *bed.Bed
	namespace string
	admin     client.Client
}

func newStage(t *testing.T) *stage {
	t.Helper()
	b := bedtest.ControlPlane(t, bed.Without("deployment-controller", "replicaset-controller"))
	harness.Install(t, b, area)
	s := &stage{database: newDatabase(t), bed: b, namespace: bedtest.Namespace(t, b), admin: harness.Client(t, b, remediationv1.AddToScheme)}
	t.Cleanup(s.forget)
	enabled := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, remediationv1.EnabledLabel))
	s.must(s.admin.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}, enabled))
	labels := map[string]string{"app": "web"}
	s.must(s.admin.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}},
		},
	}))
	return s
}

// forget deletes the executions of the test. An auditor compares the database with all that the cluster has, and the next
// test has a database of its own.
func (s *stage) forget() {
	ctx := context.Background()
	s.must(s.admin.DeleteAllOf(ctx, &remediationv1.KubernetesExecution{}, client.InNamespace(s.namespace)))
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		var left remediationv1.KubernetesExecutionList
		if err := s.admin.List(ctx, &left, client.InNamespace(s.namespace)); err != nil || len(left.Items) > 0 {
			return fmt.Errorf("%d executions are left: %w", len(left.Items), err)
		}
		return nil
	})
}

// manage runs the manager until the test ends.
func (s *stage) manage(required bool) {
	s.Helper()
	cfg, _ := harness.ConfigForPod(s.T, s.bed, harness.SystemNamespace, "statecraft-"+area)
	c := remediation.Defaults()
	c.Audit = remediation.AuditConfig{DSNFile: s.writerFile, KeyFile: s.keyFile, Required: required}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- kube.Run(ctx, cfg, kube.Options{
			Areas: []kube.AreaSetup{remediation.Area(c, policyfake.Allowing())}, Kinds: remediation.Kinds(),
			Namespace: harness.SystemNamespace, Namespaces: []string{s.namespace, harness.SystemNamespace},
			Election: kube.Election{Off: true}, MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	s.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.Errorf("manager: %v", err)
		}
	})
}

// ask makes an execution that restarts the Deployment.
func (s *stage) ask(name string) {
	s.Helper()
	s.must(s.admin.Create(s.Context(), &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       remediationv1.KubernetesExecutionSpec{Action: "rollout_restart", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}},
	}))
}

// until waits for what an execution says of itself.
func (s *stage) until(name, what string, is func(*remediationv1.KubernetesExecution) bool) (x *remediationv1.KubernetesExecution) {
	s.Helper()
	x = &remediationv1.KubernetesExecution{}
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		s.must(s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, x))
		if !is(x) {
			return fmt.Errorf("%s is not %s, but %s (%s): %s", name, what, x.Status.Phase, x.Status.Reason, x.Status.WaitingFor)
		}
		return nil
	})
	return x
}

// jobs are those of actions.
func (s *stage) jobs() []batchv1.Job {
	s.Helper()
	var jobs batchv1.JobList
	s.must(s.admin.List(s.Context(), &jobs, client.InNamespace(s.namespace)))
	return jobs.Items
}

// succeed does what a node does with the pod of an execution that does what it should.
func (s *stage) succeed(x *remediationv1.KubernetesExecution) {
	s.Helper()
	var pods corev1.PodList
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		err := s.admin.List(s.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)})
		if err != nil || len(pods.Items) != 1 {
			return fmt.Errorf("%d pods of %s, %w", len(pods.Items), x.Name, err)
		}
		return nil
	})
	pod := &pods.Items[0]
	core, err := kubernetes.NewForConfig(s.bed.Config())
	s.must(err)
	s.must(core.CoreV1().Pods(s.namespace).Bind(s.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"},
	}, metav1.CreateOptions{}))
	was, now := pod.DeepCopy(), metav1.NewTime(time.Now().Truncate(time.Second))
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: remediationv1.ActionContainer, Image: "action", ContainerID: "test://1",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Message: string(action.Report{Effect: remediationv1.EffectApplied, Affected: 1}.JSON()), StartedAt: now, FinishedAt: now, ContainerID: "test://1",
		}},
	}}
	s.must(s.admin.Status().Patch(s.Context(), pod, client.MergeFrom(was)))
}
