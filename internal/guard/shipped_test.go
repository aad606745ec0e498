package guard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/config"
)

// TestAnAreaWithoutPoliciesIsRefused: nothing would ever be wrong with its policies, and everything would count as checked.
func TestAnAreaWithoutPoliciesIsRefused(t *testing.T) {
	for _, area := range []string{"valkey", "misspelled", ""} {
		if s, err := ShippedFor(area, "statecraft-system"); err == nil || !strings.Contains(err.Error(), "ships 0 validating admission policies") {
			t.Errorf("area %q: %d policies, %v", area, len(s.Policies), err)
		}
	}
}

func TestRecordsOfAreasHaveNamesOfTheirOwn(t *testing.T) {
	record, err := Record{}.ConfigMap("edge", "backups")
	if err != nil || record.Namespace != "backups" || record.Name != "statecraft-edge-policies" || record.Name != RecordName("edge") {
		t.Errorf("%s/%s, %v", record.Namespace, record.Name, err)
	}
}

// TestWhatAManifestLeavesOutIsAdded, and what it says is kept: the API server does the same when it stores it.
func TestWhatAManifestLeavesOutIsAdded(t *testing.T) {
	labels := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	rule := admissionv1.NamedRuleWithOperations{ResourceNames: []string{"web"}}
	scoped := func(scope admissionv1.ScopeType) []admissionv1.NamedRuleWithOperations {
		r := rule
		r.Scope = ptr.To(scope)
		return []admissionv1.NamedRuleWithOperations{r}
	}
	full := admissionv1.MatchResources{
		NamespaceSelector: labels, ObjectSelector: labels, MatchPolicy: ptr.To(admissionv1.Exact),
		ResourceRules: scoped(admissionv1.NamespacedScope), ExcludeResourceRules: scoped(admissionv1.ClusterScope),
	}
	none := []admissionv1.NamedRuleWithOperations{rule}
	for name, tc := range map[string]struct{ is, want admissionv1.MatchResources }{
		"what is left out is added": {
			admissionv1.MatchResources{ResourceRules: none, ExcludeResourceRules: none},
			admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}, MatchPolicy: ptr.To(admissionv1.Equivalent),
				ResourceRules: scoped(admissionv1.AllScopes), ExcludeResourceRules: scoped(admissionv1.AllScopes),
			},
		},
		"what is said is kept": {full, full},
	} {
		var policy admissionv1.ValidatingAdmissionPolicy
		var binding admissionv1.ValidatingAdmissionPolicyBinding
		policy.Kind, policy.Spec.MatchConstraints = "ValidatingAdmissionPolicy", tc.is.DeepCopy()
		binding.Kind, binding.Spec.MatchResources = "ValidatingAdmissionPolicyBinding", tc.is.DeepCopy()
		var s Shipped
		take(t, &s, policy)
		take(t, &s, binding)
		if diff := cmp.Diff(tc.want, *s.Policies[0].Spec.MatchConstraints); diff != "" || *s.Policies[0].Spec.FailurePolicy != admissionv1.Fail {
			t.Errorf("%s, of a policy: %s", name, diff)
		}
		if diff := cmp.Diff(tc.want, *s.Bindings[0].Spec.MatchResources); diff != "" {
			t.Errorf("%s, of a binding: %s", name, diff)
		}
	}
}

// take reads an object as a manifest has it.
func take(t *testing.T, s *Shipped, obj any) {
	t.Helper()
	manifest, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := config.Parse(manifest)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	if err := s.take(objects[0]); err != nil {
		t.Fatal(err)
	}
}

// TestAVerdictNamesWhatItIsAbout: the areas call their objects by different words.
func TestAVerdictNamesWhatItIsAbout(t *testing.T) {
	v := Verdict{Since: installed.Time, Last: "Policy a", Unbroken: installed.Time}
	if got := v.TooEarly("the execution", installed.Time); got != "Policy a was not in force yet when the execution was made" {
		t.Error(got)
	}
	if got := v.Interrupted("the execution", installed.Time); got != "The admission policies were missing or weaker for a while since the execution was begun" {
		t.Error(got)
	}
}
