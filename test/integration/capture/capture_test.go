// Package capture tests area capture on a real control plane, with the manager as
// a process that has only the rights its manifests grant.
package capture

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // the client insists on one
	bedtest.Main(m)
}

const area = "capture"

// Waiting, named once.
const (
	soon     = 30 * time.Second       // for what takes a few seconds, on a busy machine
	gcLearns = 90 * time.Second       // the garbage collector looks for new kinds every 30 s
	poll     = 100 * time.Millisecond // between two looks
)

func newClient(t testing.TB, b *bed.Bed) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme, capturev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(b.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
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

// keeperOf follows a ConfigMap.
func keeperOf(cm *corev1.ConfigMap, name string) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: capturev1.ObjectKeeperSpec{Mode: capturev1.FollowObject, FollowRef: &capturev1.FollowRef{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name, UID: cm.UID,
		}},
	}
}

// artifactOf is something that a keeper owns.
func artifactOf(k *capturev1.ObjectKeeper, namespace string) *corev1.ConfigMap {
	cm := configMap(namespace, k.Name)
	cm.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: capturev1.GroupVersion.String(), Kind: "ObjectKeeper", Name: k.Name, UID: k.UID, Controller: new(true),
	}}
	return cm
}

// gcKnowsKeepers waits until garbage collection watches keepers: it has taken the
// artifact of one.
func gcKnowsKeepers(t testing.TB, c client.Client, namespace string) {
	t.Helper()
	k := &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "canary-"},
		Spec:       capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: time.Hour}},
	}
	create(t, c, k)
	artifact := artifactOf(k, namespace)
	create(t, c, artifact)
	if err := c.Delete(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, gcLearns, poll, func() error { return harness.Gone(t.Context(), c, artifact) })
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
