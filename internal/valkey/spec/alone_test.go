package spec

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A proxy in a pod, or of its node, may refuse connections while the server lives.
func TestAProxyIsNotTheServer(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for name, tc := range map[string]struct {
		pod   corev1.Pod
		alone bool
	}{
		"the server alone":         {corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1), InitContainers: make([]corev1.Container, 1)}}, true},
		"one beside it":            {corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 2)}}, false},
		"one that began before it": {corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1), InitContainers: []corev1.Container{{RestartPolicy: &always}}}}, false},
		"one of its node":          {corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"ambient.istio.io/redirection": "enabled"}}}, false},
		"one of its node, soon":    {corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"istio.io/dataplane-mode": "ambient"}}}, false},
		"kept out of the mesh":     {corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"istio.io/dataplane-mode": "none"}}}, true},
	} {
		if got := ListensAlone(&tc.pod); got != tc.alone {
			t.Errorf("%s: %v", name, got)
		}
	}
}
