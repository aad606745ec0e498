package plan

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sentence is an error as a sentence.
func sentence(err error) string {
	words := strings.TrimSpace(err.Error())
	if words == "" {
		return "The action cannot be planned."
	}
	words = strings.ToUpper(words[:1]) + words[1:]
	if strings.ContainsAny(words[len(words)-1:], ".!?") {
		return words
	}
	return words + "."
}

// metadata is that of an object as it was read.
func metadata(object map[string]any) metav1.ObjectMeta {
	u := unstructured.Unstructured{Object: object}
	return metav1.ObjectMeta{
		Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Labels: u.GetLabels(),
		OwnerReferences: u.GetOwnerReferences(), ManagedFields: u.GetManagedFields(),
	}
}
