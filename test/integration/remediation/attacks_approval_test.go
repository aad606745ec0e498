package remediation

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

type kxa = remediationv1.ExecutionApproval

// deciding makes a decision about an execution that somebody has tampered with.
func deciding(which func(*stage, actor) *kx, decision remediationv1.ApprovalDecision, change func(*kxa)) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		made := approval(which(s, a), decision)
		change(made)
		return a.Create(t.Context(), made)
	}
}

// forgingApprover approves in the name of somebody else.
func forgingApprover(forge func(*meta.Requester), annotations ...string) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		made, is := approval(s.waiting, remediationv1.Approved), harness.WhoAmI(t, a.cfg)
		made.Spec.Approver = is.DeepCopy()
		made.Annotations = forgery("/spec/approver", annotations...)
		forge(made.Spec.Approver)
		if err := a.Create(t.Context(), made); err != nil {
			return err
		}
		defer func() { _ = s.admin.Delete(t.Context(), made.DeepCopy()) }()
		if same(made.Spec.Approver, is) {
			return errUndone
		}
		return nil
	}
}

func anothers(s *stage, _ actor) *kx    { return s.waiting }
func withoutPlan(s *stage, _ actor) *kx { return s.planless }
func ones(s *stage, a actor) *kx        { return s.own[a.name] }
func asIs(*kxa)                         {}

const (
	notOnesOwn = "the requester of an execution cannot approve, reject or acknowledge it"
	noPerson   = "a person decides about an execution, and not a ServiceAccount"
	otherPlan  = "spec.planDigest is not status.plan.digest of the execution, look at its plan again"
	otherUID   = "spec.executionRef.uid is that of another execution, which had the same name"
)

func approvals() []attack {
	approved, rejected, acknowledged := remediationv1.Approved, remediationv1.Rejected, remediationv1.Acknowledged
	return []attack{
		{name: "approve one's own", by: both, says: notOnesOwn, try: deciding(ones, approved, asIs)},
		{name: "reject one's own", by: both, says: notOnesOwn, try: deciding(ones, rejected, asIs)},
		{name: "acknowledge one's own", by: both, says: notOnesOwn, try: deciding(ones, acknowledged, asIs)},
		{name: "approve as a ServiceAccount", by: []string{bot}, says: noPerson, proves: "approver", try: deciding(anothers, approved, asIs)},
		{name: "approve as the manager", by: []string{manager}, says: noPerson, try: deciding(anothers, approved, asIs)},
		{name: "approve as a ServiceAccount of one's namespace", by: both, says: noPerson, try: func(t *testing.T, s *stage, a actor) error {
			return a.as("system:serviceaccount:"+namespace+":"+bot).Create(t.Context(), approval(s.own[a.name], approved))
		}},
		{name: "approve without the verb", by: []string{clerk}, says: "clerk may not approve kubernetesexecutions waiting in namespace shop", try: deciding(anothers, approved, asIs)},
		{name: "acknowledge without the verb", by: []string{clerk}, says: "clerk may not approve kubernetesexecutions waiting in namespace shop",
			try: deciding(anothers, acknowledged, asIs)},
		{name: "acknowledge in advance", by: slices.Concat(both, []string{approver}), says: markStays, try: acknowledgingInAdvance},
		{name: "approve with the role edit alone", by: []string{requester},
			says: `cannot create resource "executionapprovals" in API group "remediation.statecraft.dev" in the namespace "shop"`, try: deciding(anothers, approved, asIs)},
		{name: "forge the approver", by: both, says: errUndone.Error(), try: forgingApprover(func(r *meta.Requester) { r.Username = "boss" })},
		{name: "forge the approver's groups", by: both, says: errUndone.Error(), try: forgingApprover(func(r *meta.Requester) { r.Groups = append(r.Groups, "bosses") })},
		{name: "forge the approver's extra", by: both, says: errUndone.Error(), try: forgingApprover(func(r *meta.Requester) {
			r.Extra = map[string]meta.ExtraValue{"example.com/second-factor": {"true"}}
		})},
		{name: "forge by a policy the approver", by: both, says: "spec.approver must be the user who makes the decision", undone: true,
			try: forgingApprover(asHeIs, "forge")},
		{name: "approve another plan", by: slices.Concat(both, []string{approver}), says: otherPlan, proves: "approver-execution", try: deciding(anothers, approved, func(a *kxa) { a.Spec.PlanDigest = otherDigest })},
		{name: "approve before there is a plan", by: both, says: otherPlan, try: deciding(withoutPlan, approved, asIs)},
		{name: "approve no plan", by: both, says: "planDigest is required", try: deciding(anothers, approved, func(a *kxa) { a.Spec.PlanDigest = "" })},
		{name: "approve an old plan", by: both, says: otherPlan, try: func(t *testing.T, s *stage, a actor) error {
			x := s.execution(t, requester, "moved-"+a.name, `{"phase":"waiting_approval",`+plan(digest)+`}`)
			if err := s.actors[manager].Status().Patch(t.Context(), x, merge(`{"status":{%s}}`, plan(otherDigest))); err != nil {
				t.Fatal(err)
			}
			s.known(t, x, otherDigest)
			return a.Create(t.Context(), approval(x, approved))
		}},
		{name: "approve one that had the same name", by: both, says: otherUID, try: func(t *testing.T, s *stage, a actor) error {
			before := s.execution(t, requester, "again-"+a.name, `{"phase":"waiting_approval",`+plan(digest)+`}`)
			if err := s.actors[requester].Delete(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			after := s.execution(t, requester, "again-"+a.name, `{"phase":"waiting_approval",`+plan(digest)+`}`)
			s.known(t, after, digest)
			return a.Create(t.Context(), approval(before, approved))
		}},
		{name: "approve under the name of another execution", by: slices.Concat(both, []string{approver}), says: "spec.executionRef.uid is that of an execution with another name",
			try: deciding(anothers, approved, func(a *kxa) { a.Spec.ExecutionRef.Name = "low-risk" })},
		{name: "acknowledge under the name of another execution", by: both, says: "spec.executionRef.uid is that of an execution with another name",
			try: deciding(anothers, acknowledged, func(a *kxa) { a.Spec.ExecutionRef.Name = "low-risk" })},
		{name: "approve for longer than a day", by: both, says: "spec.validUntil is at most 24 hours from now", try: deciding(anothers, approved, func(a *kxa) {
			until := metav1.NewTime(time.Now().Add(24*time.Hour + time.Minute))
			a.Spec.ValidUntil = &until
		})},
		{name: "approve a rollback by a rejection", by: both, says: "only an approval includes the rollback", try: deciding(anothers, rejected, func(a *kxa) { a.Spec.IncludesRollback = true })},
		{name: "turn a rejection into an approval", by: both, says: "a decision cannot be changed: delete it, and make another",
			rbac: `cannot patch resource "executionapprovals"`, try: func(t *testing.T, s *stage, a actor) error {
				return a.Patch(t.Context(), s.rejection.DeepCopy(), merge(`{"spec":{"decision":"Approved"}}`))
			}},
		{name: "delete the rejection of another", by: slices.Concat(both, []string{approver}), says: "only rejecter can withdraw this rejection", proves: "approver-rejection",
			try: func(t *testing.T, s *stage, a actor) error { return a.Delete(t.Context(), s.rejection.DeepCopy()) }},
		{name: "delete all rejections", by: []string{clusterAdmin}, says: "only rejecter can withdraw this rejection",
			try: func(t *testing.T, _ *stage, a actor) error {
				return a.DeleteAllOf(t.Context(), &kxa{}, client.InNamespace(namespace))
			}},
		{name: "keep an approval from being withdrawn", by: both, says: madeWith + "finalizers", try: deciding(anothers, approved, func(a *kxa) {
			a.Finalizers = []string{"example.com/stay"}
		})},
		{name: "have an approval collected", by: both, says: madeWith + "an owner", try: deciding(anothers, approved, func(a *kxa) { ownedBy(a, "KubernetesExecution") })},
	}
}

// known waits until admission knows the plan of an execution.
func (s *stage) known(t *testing.T, x *kx, digest string) {
	t.Helper()
	a := approval(x, remediationv1.Approved)
	a.Spec.PlanDigest = digest
	harness.Eventually(t, soon, poll, func() error { return harness.Accepted(t, s.actors[approver], a) })
}
