package remediationwriters

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// briefly is for how long an approval holds that is to end.
const briefly = 3 * time.Second

// TestApprovalsOutliveTheManager: three executions are approved and held, and the manager is stopped. The next one carries out the approval
// that still holds. It does not carry out the one that ended at its deadline while no manager ran, nor the one whose plan has
// changed: these are approved again.
func TestApprovalsOutliveTheManager(t *testing.T) {
	s := newStage(t)
	resume, stop := s.suspend(), s.manage(braked(brake.Limits{}), approved)
	for _, name := range []string{"kept", "late", "moved"} {
		s.enlarge(s.dora, name)
	}
	first := map[string]*kx{}
	for _, name := range []string{"kept", "moved", "late"} {
		first[name] = s.until(name, "waiting_approval")
		s.decide(first[name], name+"-first", func(a *remediationv1.ExecutionApprovalSpec) {
			if name == "late" {
				until := metav1.NewTime(time.Now().Add(briefly))
				a.ValidUntil = &until
			}
		})
	}
	s.held("kept", execution.ReasonSuspended, "All executions are suspended by ConfigMap")
	stop()
	s.resized("moved", 7)
	s.passes(time.Now().Add(briefly))

	s.manage(braked(brake.Limits{}), approved)
	again := map[string]*kx{
		"late":  s.awaits("late", "ExecutionApproval late-first of user olga does not count: it ended at "),
		"moved": s.awaits("moved", "ExecutionApproval moved-first of user olga does not count: it quotes another plan."),
	}
	s.held("kept", execution.ReasonSuspended, "All executions are suspended by ConfigMap")
	resume()
	s.carriedOut("kept", "kept-first", first["kept"].Status.Plan.Digest)
	for name := range again {
		x := s.awaits(name, "-first of user olga does not count")
		if x.Status.JobUID != "" {
			t.Errorf("execution %s has a Job without an approval", name)
		}
		s.approve(x, name+"-second")
		s.carriedOut(name, name+"-second", x.Status.Plan.Digest)
	}
	for name, plans := range map[string]int32{"kept": 1, "late": 1, "moved": 2} {
		if x := s.execution(name); x.Status.Plans != plans || (x.Status.Plan.Digest != first[name].Status.Plan.Digest) != (plans > 1) {
			t.Errorf("execution %s had %d plans, want %d", name, x.Status.Plans, plans)
		}
	}
}

// carriedOut plays the node for an execution, and sees by which approval of which plan it was done.
func (s *stage) carriedOut(name, by, digest string) {
	s.Helper()
	s.runPod(s.until(name, "executing"))
	x := s.until(name, "rollback_ready")
	if a := x.Status.ApprovalReceived; a == nil || a.Name != by || a.PlanDigest != digest {
		s.Errorf("execution %s was carried out by approval %+v, want %s of %s", name, a, by, digest)
	}
	s.hasReplicas(name, many)
}

// original is an execution that is taken back.
type original struct {
	includes   bool                 // the approval includes the rollback
	finalize   int32                // finalizeAfterSeconds
	phase      string               // in which it is when it is taken back
	afterwards func(*stage, string) // what happens before that
	covered    bool                 // its approval counts for the rollback
}

const neverHolds = "never_holds" // a condition

// TestAnApprovalIncludesTheRollback only while the target is as the action left it, and the action can still be taken back or has just failed
// its postcondition. Otherwise a person approves the rollback like any other execution.
func TestAnApprovalIncludesTheRollback(t *testing.T) {
	s, pack := newStage(t), policyfake.Allowing()
	pack.Set(approved)
	pack.SetCondition(neverHolds, false)
	s.manageBy(braked(brake.Limits{}), pack)
	const long = 300
	all := map[string]original{
		"ready":     {includes: true, finalize: long, phase: "rollback_ready", covered: true},
		"not-asked": {finalize: long, phase: "rollback_ready"},
		"changed": {includes: true, finalize: long, phase: "rollback_ready", afterwards: func(s *stage, name string) {
			s.resized(name, 7)
		}},
		"final":  {includes: true, finalize: 1, phase: "completed"},
		"failed": {includes: true, finalize: long, phase: "failed", covered: true},
		"failed-long": {includes: true, finalize: 1, phase: "failed", afterwards: func(s *stage, name string) {
			s.passes(s.execution(name).Status.Since.Add(2 * time.Second))
		}},
	}
	for name, o := range all {
		s.enlarge(s.dora, name, func(x *kx) {
			x.Spec.FinalizeAfterSeconds = o.finalize
			if o.phase == "failed" {
				x.Spec.PostConditions = []remediationv1.Condition{{Name: neverHolds, Required: true, TimeoutSeconds: 1}}
			}
		})
	}
	for name, o := range all {
		x := s.until(name, "waiting_approval")
		s.decide(x, name, func(a *remediationv1.ExecutionApprovalSpec) { a.IncludesRollback = o.includes })
		s.runPod(x)
	}
	for name, o := range all {
		s.takenBack(name, o)
	}
}

// takenBack takes an execution back.
func (s *stage) takenBack(name string, o original) {
	s.Helper()
	x := s.until(name, o.phase)
	if o.afterwards != nil {
		o.afterwards(s, name)
	}
	info := x.Status.RollbackInformation
	if info == nil || !info.Available || x.Status.Effect != remediationv1.EffectApplied {
		s.Fatalf("execution %s cannot be taken back: %s, %s, %+v", name, x.Status.Reason, x.Status.Effect, info)
	}
	undo := s.wanting("undo-"+name, few, func(u *kx) {
		u.Spec.Action, u.Spec.Parameters, u.Spec.Target = info.RollbackAction, info.RollbackParameters, x.Spec.Target
		u.Spec.RollbackOf = &remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}
	})
	s.must(s.dora.Create(s.Context(), undo))
	if !o.covered {
		harness.Eventually(s.T, timeout.Wait, poll, func() error {
			switch u := s.execution(undo.Name); {
			case u.Status.JobUID != "":
				s.Fatalf("%s began without an approval", undo.Name)
			case u.Status.Phase != execution.WaitingApproval:
				return fmt.Errorf("%s is %s (%s)", undo.Name, u.Status.Phase, u.Status.Reason)
			}
			return nil
		})
		return
	}
	s.runPod(undo)
	u := s.until(undo.Name, "completed")
	if a := u.Status.ApprovalReceived; a == nil || a.Approver != approver || a.Name != "" {
		s.Errorf("%s was carried out by approval %+v, want that of the execution that it takes back", undo.Name, a)
	}
	if u.Status.After == nil || u.Status.After.Hash != x.Status.Before.Hash {
		s.Errorf("%s left %+v, want what was before: %+v", undo.Name, u.Status.After, x.Status.Before)
	}
	s.hasReplicas(name, few)
	if o.phase == "rollback_ready" {
		if x = s.until(name, "failed"); x.Status.Reason != execution.ReasonRolledBack {
			s.Errorf("execution %s ended for %s", name, x.Status.Reason)
		}
	}
}
