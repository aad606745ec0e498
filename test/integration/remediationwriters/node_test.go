package remediationwriters

import (
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/perform"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// runPod does what a node does with the pod of an execution: it runs the very code of the program, with the rights of the pod's
// account, and reports what that wrote.
func (s *stage) runPod(x *remediationv1.KubernetesExecution) action.Report {
	s.Helper()
	pod := s.podOf(x)
	core, err := kubernetes.NewForConfig(s.bed.Config())
	s.must(err)
	s.must(core.CoreV1().Pods(s.namespace).Bind(s.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"},
	}, metav1.CreateOptions{}))
	token, err := core.CoreV1().ServiceAccounts(s.namespace).CreateToken(s.Context(), pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
	}, metav1.CreateOptions{})
	s.must(err)
	cfg := rest.AnonymousClientConfig(s.bed.Config())
	cfg.BearerToken = token.Status.Token
	command, err := action.ParseArguments(pod.Spec.Containers[0].Args)
	s.must(err)
	object, err := perform.Connect(cfg, command.Target, perform.Usual.Write)
	s.must(err)
	report := perform.Perform(s.Context(), object, command, perform.Usual)
	s.ended(pod, report)
	return report
}

// podOf waits for the pod of an execution.
func (s *stage) podOf(x *remediationv1.KubernetesExecution) *corev1.Pod {
	s.Helper()
	var pods corev1.PodList
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		err := s.admin.List(s.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)}, client.HasLabels{batchv1.JobNameLabel})
		if err != nil || len(pods.Items) != 1 {
			return fmt.Errorf("%d pods of %s: %+v, %w", len(pods.Items), x.Name, s.execution(x.Name).Status.Reason, err)
		}
		return nil
	})
	return &pods.Items[0]
}

// ended is what a kubelet says of a pod whose container has ended.
func (s *stage) ended(pod *corev1.Pod, report action.Report) {
	s.Helper()
	was, now := pod.DeepCopy(), metav1.NewTime(time.Now().Truncate(time.Second))
	pod.Status.Phase = corev1.PodFailed
	code := int32(1)
	if report.Effect == remediationv1.EffectApplied {
		pod.Status.Phase, code = corev1.PodSucceeded, 0
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: remediationv1.ActionContainer, Image: "action", ContainerID: "test://1",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Message: string(report.JSON()), StartedAt: now, FinishedAt: now, ContainerID: "test://1",
		}},
	}}
	s.must(s.admin.Status().Patch(s.Context(), pod, client.MergeFrom(was)))
}
