package bed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// ErrNoCRDs says that a directory given to InstallCRDs holds none.
var ErrNoCRDs = errors.New("no CustomResourceDefinitions")

// InstallCRDs applies the CustomResourceDefinitions in the YAML files of some directories and returns once
// objects of every version can be listed.
func (b *Bed) InstallCRDs(ctx context.Context, dirs ...string) error {
	for _, dir := range dirs {
		crds, err := readCRDs(dir)
		if err != nil {
			return err
		}
		if len(crds) == 0 {
			return fmt.Errorf("%s: %w", dir, ErrNoCRDs)
		}
		for _, crd := range crds {
			if err := b.installCRD(ctx, crd); err != nil {
				return fmt.Errorf("install %s: %w", crd.GetName(), err)
			}
		}
	}
	return nil
}

func readCRDs(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.y*ml"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var crds []*unstructured.Unstructured
	for _, file := range files {
		objects, err := readObjects(file)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for _, object := range objects {
			if object.GetKind() == "CustomResourceDefinition" {
				crds = append(crds, object)
			}
		}
	}
	return crds, nil
}

func readObjects(path string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

func (b *Bed) installCRD(ctx context.Context, object *unstructured.Unstructured) error {
	client, err := apiextensions.NewForConfig(b.Config())
	if err != nil {
		return err
	}
	content, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	force := true
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := crds.Patch(ctx, object.GetName(), types.ApplyPatchType, content,
		metav1.PatchOptions{FieldManager: "bed", Force: &force})
	if err != nil {
		return err
	}
	return b.awaitServed(ctx, crd)
}

// awaitServed asks the resource itself: the Established condition turns true a moment before the API server
// answers for it.
func (b *Bed) awaitServed(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	client, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		return err
	}
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		resource := schema.GroupVersionResource{
			Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural,
		}
		err := b.await(ctx, resource.String(), func(ctx context.Context) (bool, error) {
			_, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
