// Package guard says whether the admission policies of area capture are in force as they are
// shipped. Without them the API server does not check who makes a request.
package guard

import (
	"bytes"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// Shipped are the policies and bindings that must be in force, as the API server stores them.
type Shipped struct {
	Policies []admissionv1.ValidatingAdmissionPolicy
	Bindings []admissionv1.ValidatingAdmissionPolicyBinding
}

// installedIn is the namespace of the manager that the manifests name.
const installedIn = "statecraft-system"

// Parse reads manifests for a manager that is installed in a namespace. A policy that stamps is not
// needed: where it is missing, those that validate refuse every request with another requester.
func Parse(files [][]byte, namespace string) (s Shipped, err error) {
	for _, file := range files {
		file = bytes.ReplaceAll(file, []byte(installedIn), []byte(namespace))
		for _, document := range bytes.Split(file, []byte("\n---\n")) {
			if err := s.take(document); err != nil {
				return Shipped{}, err
			}
		}
	}
	return s, nil
}

func (s *Shipped) take(document []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	switch kind.Kind {
	case "ValidatingAdmissionPolicy":
		var p admissionv1.ValidatingAdmissionPolicy
		if err := yaml.UnmarshalStrict(document, &p); err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		complete(p.Spec.MatchConstraints)
		s.Policies = append(s.Policies, p)
	case "ValidatingAdmissionPolicyBinding":
		var b admissionv1.ValidatingAdmissionPolicyBinding
		if err := yaml.UnmarshalStrict(document, &b); err != nil {
			return fmt.Errorf("read binding: %w", err)
		}
		s.Bindings = append(s.Bindings, b)
	}
	return nil
}

// complete adds what the API server adds to the constraints of a policy when it stores it.
func complete(m *admissionv1.MatchResources) {
	m.NamespaceSelector, m.ObjectSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	m.MatchPolicy = ptr.To(admissionv1.Equivalent)
	for i := range m.ResourceRules {
		m.ResourceRules[i].Scope = ptr.To(admissionv1.AllScopes)
	}
}
