// Command crd removes from generated CRDs the descriptions below types of Kubernetes itself, such as a
// whole pod template: they are most of the file, and kubectl could not apply it any more. The
// descriptions of our own fields stay, because kubectl explain prints them.
//
//	go run ./hack/crd config/crd/runtime/*.yaml
package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// kinds are those whose CRDs are stripped: those that embed types of Kubernetes.
var kinds = map[string]reflect.Type{"ClassRuntime": reflect.TypeFor[runtimev1.ClassRuntime]()}

func main() {
	for _, file := range os.Args[1:] {
		if err := rewrite(file); err != nil {
			fmt.Fprintln(os.Stderr, "crd:", err)
			os.Exit(1)
		}
	}
}

func rewrite(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // a file of the repository
	if err != nil {
		return err
	}
	crd := map[string]any{}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if err := strip(crd); err != nil {
		return fmt.Errorf("strip %s: %w", file, err)
	}
	if text, err = yaml.Marshal(crd); err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), text...), 0o644) //nolint:gosec // for people to read
}

// strip removes descriptions from all versions of a CRD.
func strip(crd map[string]any) error {
	typed := apiextensionsv1.CustomResourceDefinition{}
	text, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &typed); err != nil {
		return err
	}
	kind, known := kinds[typed.Spec.Names.Kind]
	if !known {
		return fmt.Errorf("the type of %s is not known: add it to kinds", typed.Spec.Names.Kind)
	}
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		walk(root, kind)
	}
	return nil
}

// embedded says that a type is one of Kubernetes itself that is described in its own documentation.
func embedded(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || t == reflect.TypeFor[metav1.Condition]()
}

// walk follows a schema along the type that it was generated from. The description of a field of ours
// stays, also if its type is one of Kubernetes.
func walk(schema map[string]any, t reflect.Type) {
	t = deref(t)
	if embedded(t) {
		silence(schema)
		return
	}
	switch t.Kind() {
	case reflect.Slice:
		if items, is := schema["items"].(map[string]any); is {
			if embedded(deref(t.Elem())) {
				delete(items, "description") // of the type, and not of the field
			}
			walk(items, t.Elem())
		}
	case reflect.Struct:
		properties, _ := schema["properties"].(map[string]any)
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if property, is := properties[name].(map[string]any); is {
				walk(property, f.Type)
			} else if f.Anonymous {
				walk(schema, f.Type)
			}
		}
	default: // scalars have nothing below them
	}
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

const listType = "x-kubernetes-list-type"

// silence removes all descriptions below a schema, and what a schema says without being told: a list is atomic. A property may be
// called description, too.
func silence(schema map[string]any) {
	if schema[listType] == "atomic" {
		delete(schema, listType)
	}
	properties, _ := schema["properties"].(map[string]any)
	below := []any{schema["items"], schema["additionalProperties"]}
	for _, p := range properties {
		below = append(below, p)
	}
	for _, b := range below {
		if inner, is := b.(map[string]any); is {
			delete(inner, "description")
			silence(inner)
		}
	}
}
