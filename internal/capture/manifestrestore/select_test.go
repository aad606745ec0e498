package manifestrestore

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

func TestWhatARestoreSelects(t *testing.T) {
	configMaps, deployments := capturev1.ManifestResource{Resource: "configmaps"}, capturev1.ManifestResource{Group: "apps", Resource: "deployments"}
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for what, c := range map[string]struct {
		selector *capturev1.RestoreSelector
		want     []string // of a ConfigMap and a Deployment, each with and without the label
		absent   []string
	}{
		"nothing is said":    {nil, []string{"configmaps", "configmaps web", "deployments", "deployments web"}, nil},
		"everything":         {&capturev1.RestoreSelector{}, []string{"configmaps", "configmaps web", "deployments", "deployments web"}, nil},
		"by resource":        {&capturev1.RestoreSelector{Resources: []capturev1.ManifestResource{deployments}}, []string{"deployments", "deployments web"}, nil},
		"by label":           {&capturev1.RestoreSelector{LabelSelector: web}, []string{"configmaps web", "deployments web"}, nil},
		"by both":            {&capturev1.RestoreSelector{Resources: []capturev1.ManifestResource{configMaps}, LabelSelector: web}, []string{"configmaps web"}, nil},
		"what is not there":  {&capturev1.RestoreSelector{Resources: []capturev1.ManifestResource{configMaps, {Group: "apps", Resource: "deployment"}}}, []string{"configmaps", "configmaps web"}, []string{"deployment.apps"}},
		"of another group":   {&capturev1.RestoreSelector{Resources: []capturev1.ManifestResource{{Resource: "deployments"}}}, nil, []string{"deployments"}},
		"a label nobody has": {&capturev1.RestoreSelector{Resources: []capturev1.ManifestResource{configMaps}, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}, nil, nil},
	} {
		s, err := NewSelection(c.selector)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, of := range []capturev1.ManifestResource{configMaps, deployments} {
			if s.Takes(of, nil) {
				got = append(got, of.Resource)
			}
			if s.Takes(of, map[string]string{"app": "web"}) {
				got = append(got, of.Resource+" web")
			}
		}
		if slices.Sort(got); !slices.Equal(c.want, got) {
			t.Errorf("%s: takes %q", what, got)
		}
		if diff := cmp.Diff(c.absent, s.Absent(c.selector)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if _, err := NewSelection(&capturev1.RestoreSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "no label!"}}}); err == nil {
		t.Error("a selector that is not valid is taken")
	}
}

// TestStorageClassesAreReplacedWhereverTheyAreNamed: a StatefulSet that kept the old class could make no claim any more.
func TestStorageClassesAreReplacedWhereverTheyAreNamed(t *testing.T) {
	with := task
	with.Classes = []capturev1.StorageClassMapping{{From: "slow", To: "fast"}}
	class := func(name string) map[string]any { return map[string]any{"storageClassName": name} }
	for what, c := range map[string]struct {
		version, kind string
		is, want      map[string]any
	}{
		"a claim":            {"v1", "PersistentVolumeClaim", class("slow"), class("fast")},
		"another class":      {"v1", "PersistentVolumeClaim", class("other"), class("other")},
		"templates":          {"apps/v1", "StatefulSet", map[string]any{"volumeClaimTemplates": []any{map[string]any{"spec": class("slow")}}}, map[string]any{"volumeClaimTemplates": []any{map[string]any{"spec": class("fast")}}}},
		"a kind of somebody": {"example.com/v1", "Gadget", class("slow"), class("slow")},
	} {
		obj := object(c.version, c.kind, "a")
		obj.Object["spec"] = c.is
		if diff := cmp.Diff(any(c.want), adapt(obj, with).Object["spec"]); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}
