package classruntime

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// The rights that writing a class takes besides that to the class itself.
var (
	deployments = harness.Rule("create", "apps", "deployments")
	services    = harness.Rule("create", "", "services")
	autoscalers = harness.Rule("create", "autoscaling", "horizontalpodautoscalers")
	budgets     = harness.Rule("create", "policy", "poddisruptionbudgets")
	classes     = rbacv1.PolicyRule{Verbs: []string{"create", "update", "patch", "get"}, APIGroups: []string{runtimev1.GroupVersion.Group}, Resources: []string{"classruntimes"}}
)

func scaledTo(n int32) *runtimev1.Scaling { return &runtimev1.Scaling{Max: n} }

// TestTheWriterOfAClassMayMakeWhatItMakes: somebody who may write classes and lacks one right is refused what needs that
// right, when the class is made and when it is edited, and nothing else.
func TestTheWriterOfAClassMayMakeWhatItMakes(t *testing.T) {
	s := newStage(t)
	with := func(edit func(*runtimev1.Function)) *runtimev1.ClassRuntime {
		f := function("add", 0)
		edit(&f)
		return s.newClass(f)
	}
	plain := with(func(*runtimev1.Function) {})
	s.create(plain)
	for i, c := range []struct {
		rights []rbacv1.PolicyRule
		class  *runtimev1.ClassRuntime
		words  string
	}{
		{[]rbacv1.PolicyRule{services, autoscalers, budgets}, with(func(f *runtimev1.Function) { f.Args = []string{"--fast"} }), "may not create deployments"},
		{[]rbacv1.PolicyRule{deployments, autoscalers, budgets}, s.newClass(function("add", 8080)), "may not create services"},
		{[]rbacv1.PolicyRule{deployments, autoscalers, budgets}, with(func(f *runtimev1.Function) { f.PodTemplate = listening() }), "may not create services"},
		{[]rbacv1.PolicyRule{deployments, services, budgets}, with(func(f *runtimev1.Function) { f.Scaling = scaledTo(3) }), "may not create horizontalpodautoscalers"},
		{[]rbacv1.PolicyRule{deployments, services, autoscalers}, with(func(f *runtimev1.Function) { f.Replicas = ptr.To(int32(2)) }), "may not create poddisruptionbudgets"},
		{[]rbacv1.PolicyRule{deployments, services, autoscalers}, with(func(f *runtimev1.Function) { f.Scaling = scaledTo(2) }), "may not create poddisruptionbudgets"},
	} {
		user := fmt.Sprintf("writer-%d", i)
		harness.Grant(t, s.Client, user, s.namespace, append(c.rights, classes)...)
		writer := harness.ClientAs(t, s.bed, s.Client, user)
		other := c.class.DeepCopy()
		other.Name = "other"
		harness.Eventually(t, timeout.Wait, poll, func() error { return harness.Refused(t, writer, other, c.words) })
		edited := s.class()
		edited.Spec = c.class.Spec
		if err := writer.Update(t.Context(), edited, client.DryRunAll); err == nil {
			t.Errorf("%s: an edit is accepted", c.words)
		}
		s.labels(writer)
		harness.Grant(t, s.Client, user, s.namespace, deployments, services, autoscalers, budgets)
		harness.Eventually(t, timeout.Wait, poll, func() error { return harness.Accepted(t, writer, other) })
		edited = s.class()
		edited.Spec = c.class.Spec
		if err := writer.Update(t.Context(), edited, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", c.words, err)
		}
	}
}

// labels: what changes nothing of the spec takes no right but that to the class.
func (s *stage) labels(writer client.Client) {
	s.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"team":"shop"}}}`))
	if err := writer.Patch(s.Context(), s.class(), patch, client.DryRunAll); err != nil {
		s.Errorf("a label is refused: %v", err)
	}
}

// TestARightElsewhereIsNoRight: it is the namespace of the class that counts.
func TestARightElsewhereIsNoRight(t *testing.T) {
	s := newStage(t)
	harness.Grant(t, s.Client, "elsewhere", s.namespace, classes)
	harness.Grant(t, s.Client, "elsewhere", "default", deployments)
	writer := harness.ClientAs(t, s.bed, s.Client, "elsewhere")
	harness.Eventually(t, timeout.Wait, poll, func() error {
		return harness.Refused(t, writer, s.newClass(function("add", 0)), "may not create deployments in namespace "+s.namespace)
	})
}
