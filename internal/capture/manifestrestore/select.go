package manifestrestore

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Selection says which objects of a checkpoint are restored.
type Selection struct {
	resources map[capturev1.ManifestResource]bool // whether some were captured; nil is all resources
	labels    labels.Selector
}

// NewSelection is that of a request; nil takes everything.
func NewSelection(s *capturev1.RestoreSelector) (*Selection, error) {
	if s == nil {
		return &Selection{labels: labels.Everything()}, nil
	}
	out := &Selection{labels: labels.Everything()}
	if len(s.Resources) > 0 {
		out.resources = map[capturev1.ManifestResource]bool{}
	}
	for _, r := range s.Resources {
		out.resources[r] = false
	}
	if s.LabelSelector == nil {
		return out, nil
	}
	var err error
	if out.labels, err = metav1.LabelSelectorAsSelector(s.LabelSelector); err != nil {
		return nil, fmt.Errorf("read label selector: %w", err)
	}
	return out, nil
}

// Takes says that an object of a resource, with these labels, is restored.
func (s *Selection) Takes(of capturev1.ManifestResource, with map[string]string) bool {
	if s.resources != nil {
		if _, named := s.resources[of]; !named {
			return false
		}
		s.resources[of] = true
	}
	return s.labels.Matches(labels.Set(with))
}

// Absent are the resources that the request names and of which nothing was captured, in the order of the request: a
// name that is misspelt would be restored as nothing at all, and nobody would know.
func (s *Selection) Absent(spec *capturev1.RestoreSelector) (absent []string) {
	if spec == nil {
		return nil
	}
	for _, r := range spec.Resources {
		if s.resources[r] {
			continue
		}
		if r.Group != "" {
			r.Resource += "." + r.Group
		}
		absent = append(absent, r.Resource)
	}
	return absent
}
