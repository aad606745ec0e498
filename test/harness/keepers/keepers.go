// Package keepers makes ObjectKeepers for tests.
package keepers

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const poll = 100 * time.Millisecond

// Following follows a ConfigMap.
func Following(cm *corev1.ConfigMap, name string) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: capturev1.ObjectKeeperSpec{Mode: capturev1.FollowObject, FollowRef: &capturev1.FollowRef{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name, UID: cm.UID,
		}},
	}
}

// Artifact is something that a keeper owns.
func Artifact(k *capturev1.ObjectKeeper, namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: k.Name, OwnerReferences: []metav1.OwnerReference{{
		APIVersion: capturev1.GroupVersion.String(), Kind: "ObjectKeeper", Name: k.Name, UID: k.UID, Controller: new(true),
	}}}}
}

// AwaitCollection waits until garbage collection watches keepers: it has taken the artifact
// of one.
func AwaitCollection(t testing.TB, c client.Client, namespace string) {
	t.Helper()
	k := &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "canary-"},
		Spec:       capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: time.Hour}},
	}
	if err := c.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	artifact := Artifact(k, namespace)
	if err := c.Create(t.Context(), artifact); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, timeout.Wait, poll, func() error { return harness.Gone(t.Context(), c, artifact) })
}
