package capture

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	stored "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
	"github.com/statecraft-dev/statecraft/test/product"
)

const trinkets = "trinkets.everything.example.com"

// installTrinkets brings a kind that no role knows, for as long as the test runs.
func installTrinkets(t *testing.T, c client.Client) {
	t.Helper()
	keeps := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: trinkets},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "everything.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "trinkets", Kind: "Trinket"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keeps}},
			}},
		},
	}
	create(t, c, crd)
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), crd); err != nil {
			t.Error(err)
		}
	})
	harness.Eventually(t, soon, poll, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("everything.example.com/v1")
		list.SetKind("TrinketList")
		return c.List(t.Context(), list)
	})
}

// administered is a namespace whose account may do everything there.
func administered(t *testing.T, s *scene) string {
	t.Helper()
	namespace := bedtest.Namespace(t, s.bed)
	create(t, s.c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: act.Account}})
	create(t, s.c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "the-account"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: act.Account}},
	})
	create(t, s.c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "who-may-capture"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "statecraft-capture-edit"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "ann"}},
	})
	return namespace
}

// besides is what a shop has besides: a pod that nobody makes again, and an object of a kind of its own.
const besides = `
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: old}
spec:
  serviceAccountName: web
  containers: [{name: bare, image: "web:1"}]
---
apiVersion: everything.example.com/v1
kind: Trinket
metadata: {name: ring, namespace: old}
spec: {of: gold}
`

// everything captures all of a namespace, and returns the objects by kind and name as they were captured.
func everything(t *testing.T, s *scene, namespace string) (*capturev1.ManifestCaptureRequest, map[string]map[string]any) {
	t.Helper()
	r := mcr(namespace, "everything", capturev1.ManifestCaptureRequestSpec{
		Selector: &capturev1.ManifestSelector{}, IncludeSecrets: true, Volumes: []capturev1.ManifestVolume{empty},
	})
	create(t, s.c, r)
	succeeded(t, s.c, r)
	_, objects, err := bulk.Captured(t.Context(), s.c, r)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, obj := range objects {
		annotations := obj.GetAnnotations()
		delete(annotations, manifestrestore.MarkAnnotation) // what a restore writes, and the next one removes
		if len(annotations) == 0 {
			annotations = nil
		}
		obj.SetAnnotations(annotations)
		all[obj.GetKind()+"/"+obj.GetName()] = obj.Object
	}
	return r, all
}

// debugged adds a container to a pod that exists. The scheduler may write to the pod at the same time.
func debugged(t *testing.T, s *scene, key client.ObjectKey) {
	t.Helper()
	debug := corev1.EphemeralContainerCommon{Name: "debug", Image: "web:1", ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePolicy: corev1.TerminationMessageReadFile}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pod := &corev1.Pod{}
		if err := s.c.Get(t.Context(), key, pod); err != nil {
			return err
		}
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: debug}}
		return s.c.SubResource("ephemeralcontainers").Update(t.Context(), pod)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEverythingRoundTrips captures all of a namespace, restores it into another where no name may be taken, and
// captures that: both are the same.
func TestEverythingRoundTrips(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	installTrinkets(t, s.c)
	create(t, s.c, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: stored.KeysSecret},
		Data:       map[string][]byte{"active": []byte("k1"), "k1": []byte("0123456789abcdef0123456789abcdef")},
	})
	from, into := administered(t, s), administered(t, s)
	for _, obj := range objectsOf(t, strings.ReplaceAll(shop+"---"+besides, "namespace: old", "namespace: "+from)) {
		obj.SetOwnerReferences(nil)
		create(t, s.c, obj)
	}
	debugged(t, s, client.ObjectKey{Namespace: from, Name: "bare"})

	taken, was := everything(t, s, from)
	if len(was) != 10 {
		t.Errorf("captured %d objects, want 10: %v", len(was), taken.Status.Skipped)
	}
	back := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: into, Name: "back"}}
	back.Spec.Source.ManifestCaptureRequest = &capturev1.RequestRef{Namespace: from, Name: taken.Name}
	create(t, s.c, back)
	s.ends(back, capturev1.ReasonCompleted)
	if diff := cmp.Diff(map[string]int32{"Created": 10}, back.Status.Counts); diff != "" {
		t.Errorf("results: %s", diff)
	}
	_, is := everything(t, s, into)
	subjects, _, _ := unstructured.NestedSlice(was["RoleBinding/web"], "subjects")
	for _, subject := range subjects {
		subject.(map[string]any)["namespace"] = into // whose account it is now
	}
	if err := unstructured.SetNestedSlice(was["RoleBinding/web"], subjects, "subjects"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("what was restored is not what was captured: %s", diff)
	}
}

// TestWhatTheAccountMayNotReadIsToldOrLeftOut: a kind that no role of the account knows fails a capture of everything,
// by its name, unless the request leaves such kinds out; then it is listed.
func TestWhatTheAccountMayNotReadIsToldOrLeftOut(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	installTrinkets(t, c)
	tenant(t, c, namespace)
	create(t, c, configMap(namespace, "settings"))
	all := mcr(namespace, "all", capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}})
	create(t, c, all)
	if why := ended(t, c, all); why != capturev1.ReasonForbidden {
		t.Errorf("it ended with %s", why)
	}
	for _, want := range []string{`apiGroups: ["everything.example.com"], resources: ["trinkets"], verbs: ["list"]`, "selector.onForbidden Skip"} {
		if said := message(all.Status.Conditions); !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	some := mcr(namespace, "some", capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{OnForbidden: capturev1.ForbiddenSkip}})
	create(t, c, some)
	succeeded(t, c, some)
	if some.Status.Captured != 1 || !strings.Contains(message(some.Status.Conditions), trinkets) {
		t.Errorf("captured %d: %s", some.Status.Captured, message(some.Status.Conditions))
	}
	if err := leavesOut(some, "trinkets", manifest.ReasonNotAllowed); err != nil {
		t.Error(err)
	}
	named := mcr(namespace, "named", capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{
		Resources: []capturev1.ManifestResource{{Group: "everything.example.com", Resource: "trinkets"}}, OnForbidden: capturev1.ForbiddenSkip,
	}})
	create(t, c, named)
	if why := ended(t, c, named); why != capturev1.ReasonForbidden {
		t.Errorf("what the request names is left out: %s", why)
	}
}

func message(conditions []metav1.Condition) string {
	if ready := apimeta.FindStatusCondition(conditions, fsm.Ready); ready != nil {
		return ready.Message
	}
	return ""
}

func leavesOut(r *capturev1.ManifestCaptureRequest, resource string, why fsm.Reason) error {
	for _, s := range r.Status.Skipped {
		if s.Resource == resource && s.Reason == why {
			return nil
		}
	}
	return fmt.Errorf("%s are not left out for %s: %+v", resource, why, r.Status.Skipped)
}
