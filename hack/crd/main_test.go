package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// largest is how large a CRD may be as JSON: client-side apply keeps it in an annotation, of which an object
// may have 256 KiB, and every API server holds it in memory.
const largest = 100_000

func schemaOf(t *testing.T, file string) (apiextensionsv1.JSONSchemaProps, int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "runtime", file))
	if err != nil {
		t.Fatal(err)
	}
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	return *crd.Spec.Versions[0].Schema.OpenAPIV3Schema, len(compact)
}

func TestOurFieldsAreDescribedAndTheCRDIsSmall(t *testing.T) {
	root, size := schemaOf(t, "runtime.statecraft.dev_classruntimes.yaml")
	if size > largest {
		t.Errorf("%d bytes, want at most %d", size, largest)
	}
	function := root.Properties["spec"].Properties["functions"].Items.Schema
	for name, field := range function.Properties {
		if field.Description == "" {
			t.Errorf("functions[].%s is not described: kubectl explain would say nothing", name)
		}
	}
	template := function.Properties["podTemplate"]
	if words := firstDescription(template.Properties); words != "" {
		t.Errorf("a type of Kubernetes is described: %s", words)
	}
	if _, kept := template.Properties["metadata"].Properties["labels"]; !kept {
		t.Error("labels of pod templates are pruned")
	}
}

func firstDescription(properties map[string]apiextensionsv1.JSONSchemaProps) string {
	for _, p := range properties {
		if p.Description != "" {
			return p.Description
		}
		if words := firstDescription(p.Properties); words != "" {
			return words
		}
		if p.Items != nil && p.Items.Schema != nil {
			if words := firstDescription(p.Items.Schema.Properties); words != "" {
				return words
			}
		}
	}
	return ""
}

// A description that is a property of its own is no description.
func TestAPropertyMayBeCalledDescription(t *testing.T) {
	schema := map[string]any{"properties": map[string]any{"description": map[string]any{"type": "string", "description": "of a type of Kubernetes"}}}
	silence(schema)
	property, is := schema["properties"].(map[string]any)["description"].(map[string]any)
	if !is || property["type"] != "string" || property["description"] != nil {
		t.Errorf("%v", schema)
	}
}
