package kube

import "k8s.io/apimachinery/pkg/runtime"

// fromMap reads a part of an unstructured object into a struct.
func fromMap(part, into any) error {
	m, _ := part.(map[string]any)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(m, into)
}
