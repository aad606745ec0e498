package manifestrestore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Changed are the fields in which one object differs from another, without their values:
// those of a Secret must not be seen.
func Changed(is, will *unstructured.Unstructured) []string {
	var paths []string
	compare("", essence(is), essence(will), &paths)
	slices.Sort(paths)
	return paths
}

// essence is an object without what changes with every write, and without our mark.
func essence(obj *unstructured.Unstructured) map[string]any {
	out := obj.DeepCopy()
	for _, field := range serverFields {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(out.Object, "metadata", "annotations", MarkAnnotation)
	unstructured.RemoveNestedField(out.Object, "status")
	if len(out.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(out.Object, "metadata", "annotations")
	}
	return out.Object
}

func compare(path string, a, b any, paths *[]string) {
	if reflect.DeepEqual(a, b) {
		return
	}
	if was, is := a.(map[string]any); is {
		if will, is := b.(map[string]any); is {
			compareMaps(path, was, will, paths)
			return
		}
	}
	if was, is := a.([]any); is {
		if will, is := b.([]any); is && len(was) == len(will) {
			for i := range was {
				compare(fmt.Sprintf("%s[%d]", path, i), was[i], will[i], paths)
			}
			return
		}
	}
	*paths = append(*paths, path)
}

func compareMaps(path string, was, will map[string]any, paths *[]string) {
	all := maps.Clone(was)
	maps.Copy(all, will)
	for key := range all {
		compare(join(path, key), was[key], will[key], paths)
	}
}

// join writes keys that are no names of fields in brackets.
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./[]"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}
