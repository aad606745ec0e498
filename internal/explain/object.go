package explain

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Shown is a field that tells how an object is.
type Shown struct{ Name, Field string }

// Parts is where lanes are stored: a list of the status, whose entries are named by a key.
type Parts struct{ List, Key, Word string }

// Read takes from an object what the explanations rest on.
func (f *Facts) Read(obj *unstructured.Unstructured, shows []Shown, parts Parts) error {
	f.Namespace, f.Name, f.Generation = obj.GetNamespace(), obj.GetName(), obj.GetGeneration()
	f.Created, f.Deleted = obj.GetCreationTimestamp(), obj.GetDeletionTimestamp()
	status, _, err := unstructured.NestedMap(obj.Object, "status")
	if err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &f.Progress); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	for _, s := range shows {
		if value, found, err := unstructured.NestedFieldNoCopy(obj.Object, strings.Split(s.Field, ".")...); err == nil && found {
			f.Figures = append(f.Figures, Figure{s.Name, fmt.Sprint(value)})
		}
	}
	return f.readLanes(status, parts)
}

func (f *Facts) readLanes(status map[string]any, parts Parts) error {
	if parts.List == "" {
		return nil
	}
	list, _, err := unstructured.NestedSlice(status, parts.List)
	if err != nil {
		return fmt.Errorf("read %s: %w", parts.List, err)
	}
	for _, entry := range list {
		fields, is := entry.(map[string]any)
		if !is {
			continue
		}
		var place meta.Place
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &place); err != nil {
			return fmt.Errorf("read %s: %w", parts.List, err)
		}
		f.Lanes = append(f.Lanes, Lane{Name: fmt.Sprintf("%s %v", parts.Word, fields[parts.Key]), Place: place})
	}
	return nil
}
