package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Objects are those of an area in folders, in the order in which they are applied.
func Objects(area, namespace string, folders ...string) (all []*unstructured.Unstructured, err error) {
	for _, folder := range folders {
		files, err := Files(folder, area, namespace)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			objects, err := Parse(file.Content)
			if err != nil {
				return nil, fmt.Errorf("read %s of area %s: %w", file.Name, area, err)
			}
			all = append(all, objects...)
		}
	}
	return all, nil
}

// Parse reads the objects of a manifest.
func Parse(manifest []byte) (objects []*unstructured.Unstructured, err error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 { // a comment between two lines of dashes is none
			objects = append(objects, object)
		}
	}
}
