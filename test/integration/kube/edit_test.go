package kube

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// edits are what others changed in the child.
func (a applying) edits(image string) (differs, edits string) {
	a.Helper()
	live := a.child()
	fields, err := child.Differs(podTemplate(a.namespace, a.owner, image), live)
	if err != nil {
		a.Fatal(err)
	}
	list, err := child.Edits(fields, live, child.Manager("test"))
	if err != nil {
		a.Fatal(err)
	}
	is := child.State{Edits: list}
	return child.Names(fields), is.Edited() + is.Contested()
}

const imageField = `.template.spec.containers[name="main"].image`

// What a person changed is found, and applied over; what another controller changed is found,
// and reported.
func TestEditsByPeopleAreUndone(t *testing.T) {
	for manager, class := range map[string]fsm.ErrorClass{"kubectl-edit": "", "flux": fsm.Contested} {
		t.Run(manager, func(t *testing.T) {
			a := newApplying(t)
			if err := a.apply("", "one"); err != nil {
				t.Fatal(err)
			}
			if differs, edits := a.edits("one"); differs != "" || edits != "" {
				t.Errorf("as applied: differs %q, edited %q", differs, edits)
			}
			theirs := a.child()
			theirs.Template.Spec.Containers[0].Image = "theirs"
			if err := a.client.Update(t.Context(), theirs, client.FieldOwner(manager)); err != nil {
				t.Fatal(err)
			}
			if differs, edits := a.edits("one"); differs != imageField || edits != imageField+` is set by "`+manager+`"` {
				t.Errorf("differs %q, edited %q", differs, edits)
			}
			if err := a.apply(theirs.UID, "one"); (err == nil) != (class == "") || err != nil && fsm.ClassOf(err) != class {
				t.Errorf("class %q: %v", class, err)
			}
			if image := a.child().Template.Spec.Containers[0].Image; (image == "one") != (class == "") {
				t.Errorf("the image is %s", image)
			}
		})
	}
}

// mutating lets the API server itself change the image of every PodTemplate in a namespace.
const mutating = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [podtemplates]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "replace", path: "/template/spec/containers/0/image", value: "by admission"}]'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME}
`

// A field that admission changes differs and was not edited: applying it again would lead to
// the same, for ever.
func TestWhatAdmissionChangesIsNoEdit(t *testing.T) {
	a := newApplying(t)
	b := lamps(t)
	harness.Apply(t, b, strings.ReplaceAll(mutating, "NAME", a.namespace))
	t.Cleanup(func() {
		_, _ = b.Kubectl(context.Background(), "delete", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", a.namespace)
	})
	var seen types.UID
	harness.Eventually(t, soon, poll, func() error {
		if err := a.apply(seen, "one"); err != nil {
			return err
		}
		made := a.child()
		if image := made.Template.Spec.Containers[0].Image; image != "by admission" {
			seen = made.UID
			return fmt.Errorf("the policy is not in force: the image is %s", image)
		}
		return nil
	})
	seen = a.child().UID
	for range 2 {
		if differs, edits := a.edits("one"); differs != imageField || edits != "" {
			t.Errorf("differs %q, edited %q", differs, edits)
		}
		if err := a.apply(seen, "one"); err != nil {
			t.Fatal(err)
		}
	}
}
