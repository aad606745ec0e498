package kube

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// ghosts is a kind of which a test may do what it likes.
func ghosts(name string) (*apiextensionsv1.CustomResourceDefinition, schema.GroupVersionKind) {
	anything := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: storage, Schema: anything}
	}
	group := name + ".example.com"
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ghosts." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "ghosts", Singular: "ghost", Kind: "Ghost", ListKind: "GhostList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v1alpha1", false)},
		},
	}, schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: "Ghost"}
}

func ghostOf(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

var errStillServed = errors.New("still served")

// An object is there, but the version by which we know its kind is served no
// longer: the API server answers 404, and yet nothing is gone.
func TestAKindThatIsNotServedSaysNothingOfItsObjects(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	crd, gvk := ghosts("unserved")
	create(t, c, crd)
	ghost := ghostOf(gvk, namespace, "a")
	harness.Eventually(t, soon, poll, func() error { return c.Create(t.Context(), ghost.DeepCopy()) })
	looks := map[string]func(name string) error{
		"whole": func(name string) error {
			return c.Get(t.Context(), read.Key{Namespace: namespace, Name: name}, ghostOf(gvk, "", ""))
		},
		"metadata": func(name string) error {
			m := &metav1.PartialObjectMetadata{}
			m.SetGroupVersionKind(gvk)
			return c.Get(t.Context(), read.Key{Namespace: namespace, Name: name}, m)
		},
	}
	for how, look := range looks {
		if err := look("a"); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if err := look("b"); !read.SaysGone(err, "b") {
			t.Errorf("%s: does not say that b is gone: %v", how, err)
		}
	}
	get(t, c, crd).Spec.Versions[1].Served = false
	if err := c.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	for how, look := range looks {
		var err error
		harness.Eventually(t, soon, poll, func() error {
			if err = look("a"); err == nil {
				return errStillServed
			}
			return nil
		})
		if read.SaysGone(err, "a") {
			t.Errorf("%s: says that a is gone: %v", how, err)
		}
	}
	gvk.Version = "v1"
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(ghost), ghostOf(gvk, "", "")); err != nil {
		t.Errorf("it is still there: %v", err)
	}
}
