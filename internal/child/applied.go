package child

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// emptyStructs are the fields that Go writes although nobody set them, because
// they are structs and not pointers. Applying them would own them. An empty map
// anywhere else means something: emptyDir: {} is a volume.
var emptyStructs = map[string]bool{
	"metadata": true, "resources": true, "strategy": true, "updateStrategy": true, "securityContext": true, "status": true,
}

// emptyScalars are the same among scalars. Others mean something: zero replicas,
// a label without a value.
var emptyScalars = map[string]any{"serviceName": "", "targetPort": int64(0)}

// words are the maps whose keys are the user's own.
var words = map[string]bool{"data": true, "stringData": true, "labels": true, "annotations": true, "matchLabels": true, "nodeSelector": true}

// Applied is what server-side apply should own of a typed object: only what the builder
// set. Status and what the server writes into metadata are left out.
func Applied(obj runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("convert %T: %w", obj, err)
	}
	delete(content, "status")
	prune(content)
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// prune removes nulls, empty structs and empty scalars, the deepest first.
func prune(m map[string]any) {
	for key, value := range m {
		switch v := value.(type) {
		case map[string]any:
			if !words[key] {
				prune(v)
			}
		case []any:
			for _, item := range v {
				if fields, is := item.(map[string]any); is {
					prune(fields)
				}
			}
		}
		if unset(key, value) {
			delete(m, key)
		}
	}
}

func unset(key string, value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0 && emptyStructs[key]
	case string, int64:
		empty, known := emptyScalars[key]
		return known && v == empty
	}
	return false
}
