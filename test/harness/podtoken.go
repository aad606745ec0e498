package harness

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// What the API server adds to a user whose token is bound to a pod.
const (
	ExtraPodName = "authentication.kubernetes.io/pod-name"
	ExtraPodUID  = "authentication.kubernetes.io/pod-uid"
)

// placeholder gates keep a pod from ever being scheduled: it is there to bind tokens to.
const placeholder = "statecraft.dev/placeholder"

// ConfigForPod reaches the API server as a ServiceAccount, as a pod of it would: with a token
// that is bound to that pod, which a client certificate cannot be. It makes the account, if
// there is none, and a pod that never runs; the token ends with the pod.
func ConfigForPod(t testing.TB, b *bed.Bed, namespace, account string) (*rest.Config, *corev1.Pod) {
	t.Helper()
	admin, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	accounts := admin.CoreV1().ServiceAccounts(namespace)
	name := metav1.ObjectMeta{Name: account}
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: name}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("make account %s: %v", account, err)
	}
	pod, err := admin.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: account + "-"},
		Spec: corev1.PodSpec{
			ServiceAccountName: account, AutomountServiceAccountToken: ptr.To(false),
			SchedulingGates: []corev1.PodSchedulingGate{{Name: placeholder}},
			SecurityContext: &corev1.PodSecurityContext{ // the product's own namespace wants it
				RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{Name: "placeholder", Image: "placeholder.invalid/none", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("make a pod of account %s: %v", account, err)
	}
	token, err := accounts.CreateToken(t.Context(), account, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("request a token bound to pod %s: %v", pod.Name, err)
	}
	cfg := rest.AnonymousClientConfig(b.Config())
	cfg.BearerToken, cfg.QPS = token.Status.Token, -1
	return cfg, pod
}
