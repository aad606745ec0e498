package remediation

import (
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// TestARepairIsApprovedDoneAndTakenBack is the life of a repair: asked for by one user, approved by another, done
// by a Job, proven by its postcondition, and taken back by a second execution.
func TestARepairIsApprovedDoneAndTakenBack(t *testing.T) {
	s := newStage(t)
	s.production()

	x := scale("more", "web", 5)
	x.Spec.PostConditions = []remediationv1.Condition{{Name: "deployment_available", Required: true, TimeoutSeconds: 60}}
	x.Spec.FinalizeAfterSeconds = 600
	s.create(s.dora, x)
	x = s.until("more", "waiting_approval")
	s.toolsSee(x, status.InProgressStatus)
	if got := s.replicas("web"); got != 2 {
		t.Fatalf("%d replicas before anybody approved", got)
	}
	own := approve(x, "own")
	own.Namespace = s.namespace
	s.bind("statecraft-remediation-approver", requester)
	s.refused(s.dora.Create(t.Context(), own), "the requester of an execution cannot approve, reject or acknowledge it")
	ok := approve(x, "ok")
	s.create(s.olga, ok)

	if out, err := s.bed.Kubectl(t.Context(), "wait", "-n", s.namespace, "--for=condition=Ready", "kx/more", "--timeout=120s"); err != nil {
		t.Fatalf("%v\n%s\n%+v", err, out, s.get("more").Status)
	}
	x = s.get("more")
	if x.Status.Phase != "rollback_ready" || x.Status.Effect != remediationv1.EffectApplied || s.replicas("web") != 5 {
		t.Fatalf("%s, %s, %d replicas", x.Status.Phase, x.Status.Effect, s.replicas("web"))
	}
	s.toolsSee(x, status.CurrentStatus)
	if a := x.Status.ApprovalReceived; a == nil || a.Approver != approver {
		t.Errorf("approved by %+v", a)
	}
	b := s.takesBack(x, "back")
	if was := s.until("more", "failed"); was.Status.Reason != "rolled_back" || !equality.Semantic.DeepEqual(was.Status.RolledBackBy, &remediationv1.ExecutionRef{Name: "back", UID: b.UID}) {
		t.Errorf("%s by %+v", was.Status.Reason, was.Status.RolledBackBy)
	}
	s.refusedAndFailed()
}

// takesBack takes an execution back as its status says, which another user approves again. The footprint is what it was before.
func (s *stage) takesBack(x *remediationv1.KubernetesExecution, name string) *remediationv1.KubernetesExecution {
	s.Helper()
	info := x.Status.RollbackInformation
	if info == nil || !info.Available {
		s.Fatalf("no way back: %+v", info)
	}
	back := scale(name, "web", 0)
	back.Spec.Action, back.Spec.Parameters = info.RollbackAction, info.RollbackParameters
	back.Spec.RollbackOf = &remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}
	s.create(s.dora, back)
	s.create(s.olga, approve(s.until(name, "waiting_approval"), "ok-"+name))
	b := s.until(name, "completed")
	s.toolsSee(b, status.CurrentStatus)
	if b.Status.After == nil || b.Status.After.Hash != x.Status.Before.Hash || s.replicas("web") != 2 {
		s.Errorf("%d replicas, footprint %+v, before %+v", s.replicas("web"), b.Status.After, x.Status.Before)
	}
	return b
}

// production makes the policy ask for an approval.
func (s *stage) production() {
	s.Helper()
	if out, err := s.bed.Kubectl(s.Context(), "label", "namespace", s.namespace, "environment=production"); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
}

// refusedAndFailed: what the policy denies is not begun. An action whose postcondition fails says so, and is taken back as its status says.
func (s *stage) refusedAndFailed() {
	s.Helper()
	s.create(s.dora, scale("far-more", "web", 200))
	x := s.until("far-more", "failed")
	if x.Status.Reason != "validation_error" || x.Status.Effect != remediationv1.EffectNone || !strings.Contains(message(x), "replicas must be between 0 and 100") {
		s.Errorf("%s, %s: %s", x.Status.Reason, x.Status.Effect, message(x))
	}

	never := scale("never", "web", 3)
	never.Spec.PostConditions = []remediationv1.Condition{{
		Name: "replicas_wanted", Required: true, TimeoutSeconds: 1, Parameters: map[string]apiextensionsv1.JSON{"count": {Raw: []byte("99")}},
	}}
	s.create(s.dora, never)
	s.create(s.olga, approve(s.until("never", "waiting_approval"), "ok-never"))
	x = s.until("never", "failed")
	if info := x.Status.RollbackInformation; x.Status.Reason != "postcondition_failed" || x.Status.Effect != remediationv1.EffectApplied || info == nil || !info.Available {
		s.Errorf("%s, %s, %+v: %s", x.Status.Reason, x.Status.Effect, info, message(x))
	}
	s.toolsSee(x, status.FailedStatus)
	if got := s.replicas("web"); got != 3 {
		s.Errorf("%d replicas", got)
	}
	s.takesBack(x, "never-back")
	if was := s.get("never"); was.Status.Phase != "failed" || was.Status.Reason != "postcondition_failed" {
		s.Errorf("what was taken back is %s (%s)", was.Status.Phase, was.Status.Reason)
	}
}
