package action

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// shipped are the definitions that the product is installed with, by the names of their actions.
func shipped(t *testing.T) map[string]remediationv1.ActionDefinition {
	t.Helper()
	text, err := os.ReadFile("../../../config/defaults/remediation/actions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]remediationv1.ActionDefinition{}
	for _, one := range bytes.Split(text, []byte("\n---\n")) {
		d := remediationv1.ActionDefinition{}
		if err := yaml.UnmarshalStrict(one, &d); err != nil {
			t.Fatalf("%v in\n%s", err, one)
		}
		if d.APIVersion != remediationv1.GroupVersion.String() || d.Kind != "ActionDefinition" {
			t.Errorf("%s is no ActionDefinition", d.Name)
		}
		action := remediationv1.ActionOf(d.Name)
		if _, twice := out[action]; twice {
			t.Errorf("%s is defined twice", action)
		}
		out[action] = d
	}
	return out
}

// A definition says what the builtin does: people read it, policies rest on it, and the access that it
// asks for is what the action needs.
func TestTheDefinitionsAgreeWithTheBuiltins(t *testing.T) {
	definitions := shipped(t)
	for action, d := range definitions {
		t.Run(action, func(t *testing.T) {
			b, err := find(d.Spec.Builtin)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b.Parameters, d.Spec.Parameters); diff != "" {
				t.Errorf("parameters: %s", diff)
			}
			var access []remediationv1.Access
			for _, k := range d.Spec.TargetKinds {
				verb := "patch"
				if b.write == DeleteTarget {
					verb = "delete"
				}
				access = append(access, remediationv1.Access{Group: k.Group, Resource: k.Resource, Verb: verb})
				if !slices.Contains(b.Kinds, k) {
					t.Errorf("%s takes no %s", b.Name, k.Kind)
				}
			}
			if b.write == DrainTarget { // of any pod
				access = append(access, remediationv1.Access{Resource: "pods", Subresource: "eviction", Verb: "create"})
			}
			if diff := cmp.Diff(access, d.Spec.Access); diff != "" {
				t.Errorf("access: %s", diff)
			}
			if d.Spec.ClusterRoleName != remediationv1.AccountPrefix+d.Name || !strings.HasSuffix(d.Spec.Description, ".") || d.Spec.Risk == "" {
				t.Errorf("role %s, description %q, risk %s", d.Spec.ClusterRoleName, d.Spec.Description, d.Spec.Risk)
			}
			back, is := definitions[d.Spec.Inverse]
			if is != (b.Inverse != "") || is && back.Spec.Builtin != b.Inverse || is && cmp.Diff(back.Spec.TargetKinds, d.Spec.TargetKinds) != "" {
				t.Errorf("inverse %q; that of the builtin is %q", d.Spec.Inverse, b.Inverse)
			}
		})
	}
	for _, b := range Builtins() {
		var kinds []remediationv1.TargetKind
		for _, d := range definitions {
			if d.Spec.Builtin == b.Name {
				kinds = append(kinds, d.Spec.TargetKinds...)
			}
		}
		for _, k := range b.Kinds {
			if !slices.Contains(kinds, k) {
				t.Errorf("no definition lets %s work on a %s", b.Name, k.Kind)
			}
		}
		if _, is := definitions[b.Name]; !is {
			t.Errorf("no definition is named after %s", b.Name)
		}
	}
}
