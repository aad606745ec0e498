// Package keeper tests keepers on a real control plane, with the manager as a process that
// has only the rights its manifests grant.
package keeper

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const area = "capture"

// Waiting, named once.
const (
	soon = timeout.Wait
	poll = 100 * time.Millisecond // between two looks
)

func newClient(t testing.TB, b *bed.Bed) client.Client {
	t.Helper()
	return harness.Client(t, b, capturev1.AddToScheme, apiextensionsv1.AddToScheme)
}

// followable lets keepers follow ConfigMaps.
func followable(t testing.TB, c client.Client) {
	t.Helper()
	create(t, c, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "follow-configmaps", Labels: map[string]string{"capture.statecraft.dev/followable": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}}},
	})
}

func create(t testing.TB, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// names lists metadata only: a thousand keepers are looked at often.
func names(ctx context.Context, c client.Client, kind, namespace string) (map[string]bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
	if kind == "ObjectKeeper" {
		list.SetGroupVersionKind(capturev1.GroupVersion.WithKind(kind + "List"))
	}
	err := c.List(ctx, list, client.InNamespace(namespace))
	there := map[string]bool{}
	for i := range list.Items {
		there[list.Items[i].Name] = true
	}
	return there, err
}
