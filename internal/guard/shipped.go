// Package guard says whether the admission policies of an area are in force as they are
// shipped. Without them the API server does not check who makes an object of the area.
package guard

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/config"
)

// Shipped are the policies and bindings that must be in force, as the API server stores them.
type Shipped struct {
	Policies []admissionv1.ValidatingAdmissionPolicy
	Bindings []admissionv1.ValidatingAdmissionPolicyBinding
}

// ShippedFor reads the manifests of an area for a manager that is installed in a namespace. A policy that stamps is not
// needed: where it is missing, those that validate refuse every object with another requester. An area that ships no
// policies gets an error, because nothing would ever be wrong with none.
func ShippedFor(area, namespace string) (s Shipped, err error) {
	objects, err := config.Objects(area, namespace, config.Policies)
	if err != nil {
		return Shipped{}, err
	}
	for _, object := range objects {
		if err := s.take(object); err != nil {
			return Shipped{}, fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	if len(s.Policies) == 0 || len(s.Bindings) == 0 {
		return Shipped{}, fmt.Errorf("area %q ships %d validating admission policies and %d bindings: want one of each at least", area, len(s.Policies), len(s.Bindings))
	}
	return s, nil
}

func (s *Shipped) take(object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case "ValidatingAdmissionPolicy":
		var p admissionv1.ValidatingAdmissionPolicy
		if err := typed(object, &p); err != nil {
			return err
		}
		if p.Spec.FailurePolicy == nil {
			p.Spec.FailurePolicy = ptr.To(admissionv1.Fail)
		}
		complete(p.Spec.MatchConstraints)
		s.Policies = append(s.Policies, p)
	case "ValidatingAdmissionPolicyBinding":
		var b admissionv1.ValidatingAdmissionPolicyBinding
		if err := typed(object, &b); err != nil {
			return err
		}
		complete(b.Spec.MatchResources)
		s.Bindings = append(s.Bindings, b)
	}
	return nil
}

// typed refuses fields that the kind does not have: the API server would not store them.
func typed(object *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, into, true)
}

// complete adds what a manifest leaves out, as the API server does when it stores a policy or a binding.
func complete(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	if m.NamespaceSelector == nil {
		m.NamespaceSelector = &metav1.LabelSelector{}
	}
	if m.ObjectSelector == nil {
		m.ObjectSelector = &metav1.LabelSelector{}
	}
	if m.MatchPolicy == nil {
		m.MatchPolicy = ptr.To(admissionv1.Equivalent)
	}
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			if rules[i].Scope == nil {
				rules[i].Scope = ptr.To(admissionv1.AllScopes)
			}
		}
	}
}
