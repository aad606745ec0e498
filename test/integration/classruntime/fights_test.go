package classruntime

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// fight changes Deployment cart-add whenever the manager has made it what the spec asks for, until it is told to stop.
func (s *stage) fight(manager, patch string, isOurs func(*appsv1.Deployment) bool) (stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticks := time.NewTicker(poll)
		defer ticks.Stop()
		for ctx.Err() == nil {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cart-add"}}
			if s.Get(ctx, client.ObjectKeyFromObject(d), d) == nil && isOurs(d) {
				_ = s.Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner(manager))
			}
			<-ticks.C
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	s.Cleanup(stop)
	return stop
}

// TestFights: a tool that sets a field again and again, and one that removes it each time. The fifth correction is the last for a while, the
// status names the field, and the tool where the API server knows it; a manager that is killed goes on being quiet.
func TestFights(t *testing.T) {
	isOurs := func(d *appsv1.Deployment) bool { return d.Labels["app.kubernetes.io/managed-by"] == "statecraft" }
	for name, c := range map[string]struct{ manager, patch, words string }{
		"sets it":    {"kubectl-label", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}`, `last by "kubectl-label"`},
		"removes it": {"remover", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`, "which leaves no trace but in the audit log"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.pair(asItIs)
			stop := s.fight(c.manager, c.patch, isOurs)
			s.until("Stalled", metav1.ConditionTrue, "FieldContested")
			s.says("Field .metadata.labels.app.kubernetes.io/managed-by of Deployment cart-add is changed again and again, " + c.words)
			if of := s.class().Status.Contested; len(of) != 1 || of[0].Count != 5 || of[0].PausedUntil == nil || len(of[0].Times) != 5 {
				t.Errorf("%+v", of)
			}
			s.until("Serving", metav1.ConditionTrue, "")
			s.quiet(2 * time.Second)
			s.manager.Kill()
			s.manager.Start()
			s.quiet(5 * time.Second)
			stop()
			s.patch("kubectl-label", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"statecraft"}}}`)
			s.until("Ready", metav1.ConditionTrue, "")
		})
	}
}

// rewriting lets the API server itself change a field of every Deployment in a namespace.
const rewriting = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "replace", path: "/spec/progressDeadlineSeconds", value: 77}]'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME}
`

// TestAdmissionIsNotFought: what admission makes of a field stays ours, and would become the same with every try. It costs no write.
func TestAdmissionIsNotFought(t *testing.T) {
	s := newStage(t)
	harness.Apply(t, s.bed, strings.ReplaceAll(rewriting, "NAME", s.namespace))
	t.Cleanup(func() {
		_, _ = s.bed.Kubectl(context.Background(), "delete", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", s.namespace)
	})
	probe := mine(s.namespace)
	harness.Eventually(t, timeout.Wait, poll, func() error {
		tried := probe.DeepCopy()
		if err := s.Create(t.Context(), tried, client.DryRunAll); err != nil {
			return err
		}
		if n := tried.Spec.ProgressDeadlineSeconds; n == nil || *n != 77 {
			return fmt.Errorf("the policy is not in force: %v", n)
		}
		return nil
	})
	s.pair(asItIs)
	if n := *s.deployment("add").Spec.ProgressDeadlineSeconds; n != 77 {
		t.Fatalf("progressDeadlineSeconds is %d", n)
	}
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Image = "add:2" })
	s.until("Ready", metav1.ConditionTrue, "")
	s.quiet(3 * time.Second)
	if of := s.class().Status.Contested; len(of) > 0 {
		t.Errorf("%+v", of)
	}
}
