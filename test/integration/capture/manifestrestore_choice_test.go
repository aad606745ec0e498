package capture

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestAChoiceOfAShopIsRestored: some kinds, or what has a label, and claims with another class.
func TestAChoiceOfAShopIsRestored(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	slow := strings.Replace(shop, "spec: {accessModes", "spec: {storageClassName: slow, accessModes", 1)
	from := checkpointOf(t, s.c, objectsOf(t, slow), empty)
	chosen := func(resources ...capturev1.ManifestResource) func(*capturev1.ManifestRestoreRequestSpec) {
		return func(spec *capturev1.ManifestRestoreRequestSpec) {
			spec.Selector = &capturev1.RestoreSelector{Resources: resources}
			spec.StorageClasses = []capturev1.StorageClassMapping{{From: "slow", To: "fast"}}
		}
	}
	misspelt := s.ends(s.ask("misspelt", from, chosen(capturev1.ManifestResource{Resource: "configmap"})), capturev1.ReasonInvalidTarget)
	s.says(misspelt, "The request selects resources of which nothing was captured: configmap; correct spec.selector in another request.")

	r := s.ends(s.ask("some", from, chosen(capturev1.ManifestResource{Resource: "configmaps"}, capturev1.ManifestResource{Resource: "persistentvolumeclaims"})), capturev1.ReasonCompleted)
	if diff := cmp.Diff(map[string]int32{"Created": 2}, r.Status.Counts); diff != "" || r.Status.Objects != 2 {
		t.Errorf("results of %d: %s", r.Status.Objects, diff)
	}
	if class := s.get(&corev1.PersistentVolumeClaim{}, "data").(*corev1.PersistentVolumeClaim).Spec.StorageClassName; class == nil || *class != "fast" {
		t.Errorf("the claim has class %v", class)
	}
	if s.uidOf(&corev1.Secret{}, "password") != "" || s.uidOf(&appsv1.Deployment{}, "web") != "" {
		t.Error("something was restored that was not chosen")
	}
	r = s.ends(s.ask("labelled", from, func(spec *capturev1.ManifestRestoreRequestSpec) {
		spec.Selector = &capturev1.RestoreSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	}), capturev1.ReasonCompleted)
	if diff := cmp.Diff(map[string]int32{"Created": 1}, r.Status.Counts); diff != "" || s.uidOf(&appsv1.Deployment{}, "web") == "" {
		t.Errorf("of what has the label: %s", diff)
	}
}
