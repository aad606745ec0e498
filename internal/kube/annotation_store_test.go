package kube_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// The status of a Pod and the progress are one write, and events are about a Pod.
func TestStatusAndProgressOfAPodAreSavedTogether(t *testing.T) {
	c := newFake(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "room", Name: "lamp", UID: "u1"}}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	s := kube.NewAnnotationStore(kube.Env{Client: c, Live: c}, kubetest.PodProgress, kubetest.NewPod)
	was, _, err := s.Get(t.Context(), client.ObjectKeyFromObject(pod))
	if err != nil {
		t.Fatal(err)
	}
	if got := was.GetObjectKind().GroupVersionKind(); got != corev1.SchemeGroupVersion.WithKind("Pod") {
		t.Errorf("events would be about %s", got)
	}
	next := was.DeepCopy()
	next.Progress.Phase, next.Status.Phase = "On", corev1.PodRunning
	if err := s.Save(t.Context(), was, next); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Get(t.Context(), client.ObjectKeyFromObject(pod))
	if err != nil || got.Progress.Phase != "On" || got.Status.Phase != corev1.PodRunning {
		t.Errorf("got %+v in %s: %v", got.Progress, got.Status.Phase, err)
	}
	if err := s.Save(t.Context(), got, got.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if now, _, err := s.Get(t.Context(), client.ObjectKeyFromObject(pod)); err != nil || now.ResourceVersion != got.ResourceVersion {
		t.Errorf("a save of nothing was written: %v", err)
	}
}
