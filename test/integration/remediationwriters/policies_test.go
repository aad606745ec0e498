package remediationwriters

import (
	"context"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// provenAfter is more than what an execution must be younger than the policies by.
const provenAfter = 11 * time.Second

// TestNothingIsReleasedWithoutThePolicies: while one of the admission policies is missing or was edited, no approved execution is released,
// and its status says who must act. What was made before the policy is back is not trusted afterwards; what is made then, is.
func TestNothingIsReleasedWithoutThePolicies(t *testing.T) {
	s := newStage(t)
	s.manage(braked(brake.Limits{}), approved)

	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "begun.remediation.statecraft.dev"}}
	s.must(s.admin.Get(t.Context(), client.ObjectKeyFromObject(binding), binding))
	s.unguarded("removed", "ValidatingAdmissionPolicyBinding "+binding.Name+" is missing", func() { s.remove(binding) }, func() {
		s.remade(binding)
		s.must(s.admin.Get(t.Context(), client.ObjectKeyFromObject(binding), binding))
		s.passes(binding.CreationTimestamp.Add(provenAfter))
	})

	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "deletion.remediation.statecraft.dev"}}
	s.must(s.admin.Get(t.Context(), client.ObjectKeyFromObject(policy), policy))
	s.Cleanup(func() { s.reinstalled(policy) })
	record := s.record()
	s.unguarded("edited", "ValidatingAdmissionPolicy "+policy.Name+" is not the one that is shipped", func() {
		s.must(s.admin.Patch(t.Context(), policy.DeepCopy(), merge(`{"spec":{"failurePolicy":"Ignore"}}`)))
	}, func() {
		s.must(s.admin.Patch(t.Context(), policy.DeepCopy(), merge(`{"spec":{"failurePolicy":"Fail"}}`)))
		harness.Eventually(t, timeout.Wait, poll, func() error {
			if is := s.record(); is == nil || record != nil && is.UID == record.UID {
				return fmt.Errorf("the manager has not recorded that policy %s is back", policy.Name)
			}
			return nil
		})
		s.passes(s.record().CreationTimestamp.Add(provenAfter))
	})
}

// unguarded takes a policy out of force while an approved execution waits, and puts it back.
func (s *stage) unguarded(name, says string, weaken, restore func()) {
	s.Helper()
	resume := s.suspend()
	s.enlarge(s.dora, name)
	s.approve(s.until(name, "waiting_approval"), name)
	s.held(name, execution.ReasonSuspended, "All executions are suspended by ConfigMap")
	weaken()
	const act = ", so the API server does not check who asks for executions: an administrator must install the policies of this version again."
	s.held(name, execution.ReasonPoliciesMissing, says+act)
	resume()
	harness.Consistently(s.T, 2*time.Second, poll, func() error {
		if x := s.execution(name); x.Status.JobUID != "" || x.Status.Reason != execution.ReasonPoliciesMissing {
			return fmt.Errorf("%s is %s (%s): %s", name, x.Status.Phase, x.Status.Reason, x.Status.WaitingFor)
		}
		return nil
	})
	restore()
	x := s.until(name, "failed")
	if x.Status.Reason != execution.ReasonIdentityUnproven || x.Status.Effect != remediationv1.EffectNone {
		s.Errorf("%s ended for %s with effect %s: %s", name, x.Status.Reason, x.Status.Effect, message(x))
	}
	s.neverRan(x)
	s.hasReplicas(name, few)

	s.enlarge(s.dora, name+"-again")
	x = s.until(name+"-again", "waiting_approval")
	s.approve(x, name+"-again")
	s.carriedOut(name+"-again", name+"-again", x.Status.Plan.Digest)
}

func (s *stage) remove(obj client.Object) {
	s.Helper()
	s.must(s.admin.Delete(s.Context(), obj.DeepCopyObject().(client.Object)))
	s.Cleanup(func() { s.remade(obj) })
}

// remade makes an object again that was removed.
func (s *stage) remade(obj client.Object) {
	s.Helper()
	again := obj.DeepCopyObject().(client.Object)
	again.SetResourceVersion("")
	again.SetUID("")
	s.must(client.IgnoreAlreadyExists(s.admin.Create(context.WithoutCancel(s.Context()), again)))
}

// reinstalled removes a policy that was edited and makes it again, so that other tests need no record of a manager.
func (s *stage) reinstalled(obj client.Object) {
	s.Helper()
	s.must(s.admin.Delete(context.WithoutCancel(s.Context()), obj.DeepCopyObject().(client.Object)))
	s.remade(obj)
}

// record is what the manager has recorded of the policies; nil if there is none.
func (s *stage) record() *corev1.ConfigMap {
	s.Helper()
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: guard.RecordName(area)}}
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(record), record); client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	} else if err != nil {
		return nil
	}
	return record
}
