package remediationwriters

import (
	"context"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Who asks for what is attacked, besides dora.
const (
	rita, gina = "rita", "gina"
	crew       = "crew" // the group that gives gina her rights
)

// breach is something that changes between the approval of an execution, whose Job is made and suspended, and its release.
type breach struct {
	by     client.Client // who asks; nil is dora
	ask    func(*kx)     // what else; nil is nothing
	change func(x *kx)
	reason fsm.Reason
	or     fsm.Reason // what the manager may find first; "" is nothing else
	says   string
}

// calm is a condition that holds until it is attacked.
const calm = "calm"

// TestAttacksBetweenApprovalAndRelease: whatever an approval was about and does not hold any more when the Job is released, the manager
// finds. Then nothing is done: the suspended Job is deleted, and the status says why.
func TestAttacksBetweenApprovalAndRelease(t *testing.T) {
	s, pack := newStage(t), policyfake.Allowing()
	pack.Set(approved)
	s.bind("edit", rbacv1.UserKind, rita)
	s.bind("edit", rbacv1.GroupKind, crew)
	stop := s.manageBy(braked(brake.Limits{}), pack)
	s.keepSuspended()
	attacks := s.breaches(pack)
	for name, a := range attacks {
		s.attacked(name, a)
	}
	for name, a := range attacks { // each at once: a release that is refused again and again is tried less and less often
		s.approve(s.until(name, "waiting_approval"), name)
		a.change(s.suspendedJob(name))
	}
	for name, a := range attacks {
		s.withdrawn(name, a)
	}

	image := breach{reason: execution.ReasonApprovalVoid, says: "The action was defined anew since the plan was made"}
	s.attacked("image", image)
	s.approve(s.until("image", "waiting_approval"), "image")
	s.suspendedJob("image")
	stop()
	other := braked(brake.Limits{})
	other.ActionImage = "another.invalid/action:1" // performs the built-in actions
	s.manageBy(other, pack)
	s.withdrawn("image", image)
	harness.Row(t, "%d attacks between approval and release", len(attacks)+1)
}

func (s *stage) breaches(pack *policyfake.Fake) map[string]breach {
	takeAway := func(binding string) func(*kx) {
		return func(*kx) {
			s.must(s.admin.Delete(s.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: binding}}))
		}
	}
	answer := func(a policy.Answer) func(*kx) {
		return func(x *kx) { pack.SetAbout(x.Name, a) }
	}
	approval := func(x *kx) *remediationv1.ExecutionApproval {
		return &remediationv1.ExecutionApproval{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: x.Name}}
	}
	return map[string]breach{
		"rights": {by: harness.ClientAs(s.T, s.bed, s.admin, rita), change: takeAway(rita),
			reason: execution.ReasonAccessDenied, says: "rita may not "},
		"rights-of-group": {by: harness.ClientAs(s.T, s.bed, s.admin, gina, crew), change: takeAway(crew),
			reason: execution.ReasonAccessDenied, says: "gina may not "},
		"footprint": {change: func(x *kx) { s.resized(x.Name, 7) },
			reason: execution.ReasonTargetChanged, says: "The target has changed since the plan was made"},
		"target": {change: func(x *kx) {
			s.must(s.admin.Delete(s.Context(), s.deployment(x.Name)))
			s.must(s.admin.Create(s.Context(), s.deployment(x.Name)))
		}, reason: execution.ReasonTargetChanged},
		"approval-withdrawn": {change: func(x *kx) { s.must(s.olga.Delete(s.Context(), approval(x))) },
			reason: execution.ReasonApprovalVoid, says: "no person has approved this plan"},
		"rejected": {change: func(x *kx) {
			s.decide(x, x.Name+"-no", func(a *remediationv1.ExecutionApprovalSpec) { a.Decision = remediationv1.Rejected })
		}, reason: execution.ReasonRejected, says: "User olga rejected the plan"},
		"decision": {change: answer(policy.Answer{Allow: true, RequireApproval: true, RequireDryRun: true, Reasons: []string{"only at night"}}),
			reason: execution.ReasonApprovalVoid, says: "The policy decides otherwise about the plan by now"},
		"denied": {change: answer(policy.Answer{Reasons: []string{"the shop is closed"}}),
			reason: execution.ReasonPolicyDenied, says: "The policy does not allow it: the shop is closed."},
		"precondition": {ask: func(x *kx) { x.Spec.PreConditions = []remediationv1.Condition{{Name: calm, Required: true}} },
			change: func(*kx) { pack.SetCondition(calm, false) },
			reason: execution.ReasonPreconditionFailed, says: "The required precondition calm does not hold any more."},
		"definition": {ask: func(x *kx) { x.Spec.Action, x.Spec.Parameters = "rollout_restart", nil },
			change: func(*kx) { s.definedAnew("rollout-restart") }, reason: execution.ReasonApprovalVoid,
			or: execution.ReasonTargetChanged}, // the account's rights go with the definition, and come again: meanwhile the dry run is refused
		"cancelled": {change: func(x *kx) { s.must(s.dora.Patch(s.Context(), x.DeepCopy(), merge(`{"spec":{"cancel":true}}`))) },
			reason: execution.ReasonCancelled, says: "The execution was cancelled before its Job was released; nothing was done."},
	}
}

// definedAnew makes an action once more, as it was.
func (s *stage) definedAnew(name string) {
	s.Helper()
	var was remediationv1.ActionDefinition
	s.must(s.admin.Get(s.Context(), client.ObjectKey{Name: name}, &was))
	s.must(s.admin.Delete(s.Context(), was.DeepCopy()))
	again := &remediationv1.ActionDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: was.Labels}, Spec: was.Spec}
	s.must(client.IgnoreAlreadyExists(s.admin.Create(s.Context(), again))) // the manager may be quicker
}

// attacked makes an execution that will be attacked.
func (s *stage) attacked(name string, a breach) {
	s.Helper()
	as := a.by
	if as == nil {
		as = s.dora
	}
	x := s.wanting(name, many)
	if a.ask != nil {
		a.ask(x)
	}
	s.must(s.admin.Create(s.Context(), s.deployment(name)))
	harness.Eventually(s.T, timeout.Wait, poll, func() error { return as.Create(s.Context(), x) }) // RBAC learns of rights within a second
}

// keepSuspended lets another policy refuse every release of a Job, so that what is approved stays where it is.
func (s *stage) keepSuspended() {
	s.Helper()
	harness.Apply(s.T, s.bed, strings.ReplaceAll(strictness, "NAMESPACE", s.namespace))
	s.Cleanup(func() {
		if _, err := s.bed.Kubectl(context.WithoutCancel(s.Context()), "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", s.namespace); err != nil {
			s.Error(err)
		}
	})
	labels := map[string]string{"app": "probe"}
	probe := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "probe"}, Spec: batchv1.JobSpec{
		Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "probe", Image: "probe"}},
		}},
	}}
	s.must(s.admin.Create(s.Context(), probe))
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		err := s.admin.Patch(s.Context(), probe.DeepCopy(), merge(`{"spec":{"suspend":false}}`), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "no Job is released here") {
			return fmt.Errorf("Jobs can be released still: %w", err)
		}
		return nil
	})
}

const strictness = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAMESPACE}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [batch], apiVersions: ["*"], operations: [UPDATE], resources: [jobs]}]
  validations:
  - expression: "!oldObject.spec.?suspend.orValue(false) || object.spec.?suspend.orValue(false)"
    message: no Job is released here
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAMESPACE}
spec:
  policyName: NAMESPACE
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}}
`

// suspendedJob waits until an execution has saved its Job, and sees that this is suspended.
func (s *stage) suspendedJob(name string) (x *kx) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		x = s.execution(name)
		var job batchv1.Job
		if x.Status.JobUID == "" {
			return fmt.Errorf("%s is %s (%s): %s", name, x.Status.Phase, x.Status.Reason, x.Status.WaitingFor)
		}
		s.must(s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: x.Status.JobName}, &job))
		if x.Status.Effect != remediationv1.EffectStarted || job.Spec.Suspend == nil || !*job.Spec.Suspend {
			s.Fatalf("execution %s: effect %s, suspended %v", name, x.Status.Effect, job.Spec.Suspend)
		}
		return nil
	})
	return x
}

// withdrawn waits until an attacked execution has ended, and sees that nothing was done.
func (s *stage) withdrawn(name string, a breach) {
	s.Helper()
	x := s.until(name, "failed")
	if a.or != "" && x.Status.Reason == a.or {
		a.reason = a.or
	}
	if x.Status.Reason != a.reason || !strings.Contains(message(x), a.says) || x.Status.Effect != remediationv1.EffectNone || x.Status.ReleasedAt != nil {
		s.Errorf("%s ended for %s with effect %s, released at %v: %s\nwant %s: %s", name, x.Status.Reason, x.Status.Effect, x.Status.ReleasedAt, message(x), a.reason, a.says)
	}
	s.neverRan(x)
}

// neverRan sees that an execution has neither a Job nor a pod.
func (s *stage) neverRan(x *kx) {
	s.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: execution.JobName(x.UID)}}
	s.must(harness.Gone(s.Context(), s.admin, job))
	var pods corev1.PodList
	s.must(s.admin.List(s.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)}))
	if len(pods.Items) > 0 {
		s.Errorf("execution %s has %d pods", x.Name, len(pods.Items))
	}
}
