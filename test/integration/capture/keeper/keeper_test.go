package keeper

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
	"github.com/statecraft-dev/statecraft/test/product"
)

// phase waits until a keeper is in a phase, with Ready for this reason.
func phase(t *testing.T, c client.Client, k *capturev1.ObjectKeeper, want fsm.Phase, reason fsm.Reason) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(k.Status.Conditions, fsm.Ready)
		if k.Status.Phase != want || ready == nil || ready.Reason != string(reason) {
			return fmt.Errorf("%s is %s, Ready %+v", k.Name, k.Status.Phase, ready)
		}
		return nil
	})
}

func TestAKeeperGoesWithItsObjectAndNotWithItsName(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	followable(t, c)
	keepers.AwaitCollection(t, c, namespace)

	followed := configMap(namespace, "followed")
	create(t, c, followed)
	k := keepers.Following(followed, namespace+"-goes")
	create(t, c, k)
	artifact := keepers.Artifact(k, namespace)
	create(t, c, artifact)
	phase(t, c, k, keeper.Tracking, keeper.ReasonFollowing)

	if err := c.Delete(t.Context(), followed); err != nil {
		t.Fatal(err)
	}
	create(t, c, configMap(namespace, "followed")) // the name is back, the object is not
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), c, k) })
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), c, artifact) })
}

func TestAKeeperThatMayNotFollowSaysSoAndStays(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hidden"}}
	create(t, c, secret)
	k := keepers.Following(configMap(namespace, "hidden"), namespace+"-forbidden")
	k.Spec.FollowRef.Kind, k.Spec.FollowRef.UID = "Secret", secret.UID
	create(t, c, k)
	phase(t, c, k, keeper.Pending, keeper.ReasonCannotFollow)
	if !strings.Contains(k.Status.WaitingFor, "capture.statecraft.dev/followable") {
		t.Errorf("does not say who must act: %q", k.Status.WaitingFor)
	}
	if err := c.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	harness.Consistently(t, 5*time.Second, poll, func() error { return c.Get(t.Context(), client.ObjectKeyFromObject(k), k) })
}

func TestAKeeperOutlivesTheRemovalOfItsKind(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	crd := gadgets()
	create(t, c, crd)
	create(t, c, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "follow-gadgets", Labels: map[string]string{"capture.statecraft.dev/followable": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"gadgets"}, Verbs: []string{"get", "list", "watch"}}},
	})
	gadget := &unstructured.Unstructured{}
	gadget.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"})
	gadget.SetNamespace(namespace)
	gadget.SetName("a")
	harness.Eventually(t, soon, poll, func() error { return c.Create(t.Context(), gadget.DeepCopy()) })
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(gadget), gadget); err != nil {
		t.Fatal(err)
	}
	k := keepers.Following(configMap(namespace, "a"), namespace+"-gadget")
	k.Spec.FollowRef.APIVersion, k.Spec.FollowRef.Kind, k.Spec.FollowRef.UID = "example.com/v1", "Gadget", gadget.GetUID()
	harness.Eventually(t, soon, poll, func() error { // created after its kind, by the clock of the server
		if now := time.Now(); now.Sub(crd.CreationTimestamp.Time) < 2*time.Second {
			return fmt.Errorf("the kind is too young")
		}
		return c.Create(t.Context(), k)
	})
	phase(t, c, k, keeper.Tracking, keeper.ReasonFollowing)

	if err := c.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	phase(t, c, k, keeper.Tracking, keeper.ReasonCannotFollow)
	again := gadgets() // an empty kind of that name proves nothing either
	harness.Eventually(t, soon, poll, func() error { return c.Create(t.Context(), again) })
	harness.Consistently(t, 5*time.Second, poll, func() error { return c.Get(t.Context(), client.ObjectKeyFromObject(k), k) })
	phase(t, c, k, keeper.Tracking, keeper.ReasonCannotFollow)
}

func gadgets() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}
