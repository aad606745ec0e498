package plugin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/plugin"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	kx "github.com/statecraft-dev/statecraft/internal/remediation/explain"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

var oldDigest, newDigest = strings.Repeat("ab", 32), strings.Repeat("cd", 32)

// desk is an API server with area remediation and without a manager, a Deployment, one who asks and one who approves.
type desk struct {
	stage
	dora, olga string
	asks       client.Client // dora
	web        *appsv1.Deployment
}

func newDesk(t *testing.T) desk {
	t.Helper()
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "remediation")
	s := stage{b, harness.Client(t, b, remediationv1.AddToScheme), bedtest.Namespace(t, b)}
	d := desk{stage: s, dora: "dora-" + s.namespace, olga: "olga-" + s.namespace}
	d.asks = harness.ClientAs(t, b, s.admin, d.dora)
	d.bind(t, "edit", d.dora)
	d.bind(t, "statecraft-remediation-approver", d.dora)
	d.bind(t, "statecraft-remediation-approver", d.olga)
	labels := map[string]string{"app": "web"}
	d.web = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "none.invalid/web"}}},
		}},
	}
	s.create(t, d.web)
	return d
}

func (d desk) bind(t *testing.T, role, user string) {
	t.Helper()
	d.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, GenerateName: "bind-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
}

// execution is dora's, and the manager has brought it to a phase with a plan.
func (d desk) execution(t *testing.T, name string, phase fsm.Phase, change func(*remediationv1.KubernetesExecutionStatus)) *remediationv1.KubernetesExecution {
	t.Helper()
	x := &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: name},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"},
			Parameters: map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("5")}},
		},
	}
	harness.Eventually(t, timeout.Wait, poll, func() error { return d.asks.Create(t.Context(), x) }) // its rights are news
	d.report(t, x, func(s *remediationv1.KubernetesExecutionStatus) {
		s.Phase, s.Since = phase, metav1.NewTime(time.Now().Truncate(time.Second))
		s.ObservedGeneration, s.MachineHash = x.Generation, execution.Machine.Hash()
		s.Plan = &remediationv1.Plan{
			Digest: oldDigest, Summary: "Scale Deployment web from 2 to 5 replicas", Content: "1", Footprint: "1", Action: "1", Account: "statecraft-action-scale-deployment",
			Target:  remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: d.web.UID},
			Changes: []remediationv1.Change{{Path: "spec.replicas", From: "2", To: "5"}},
			Policy:  remediationv1.PolicyDecision{Pack: "1", Allowed: true, RequiresApproval: true, Reasons: []string{"namespaces of production need an approval"}},
		}
		if change != nil {
			change(s)
		}
	})
	return x
}

// report writes a status, as the manager would. An administrator of the group system:masters may.
func (d desk) report(t *testing.T, x *remediationv1.KubernetesExecution, change func(*remediationv1.KubernetesExecutionStatus)) {
	t.Helper()
	change(&x.Status)
	if err := d.admin.Status().Update(t.Context(), x); err != nil {
		t.Fatal(err)
	}
}

func (d desk) decisions(t *testing.T) []remediationv1.ExecutionApproval {
	t.Helper()
	var list remediationv1.ExecutionApprovalList
	if err := d.admin.List(t.Context(), &list, client.InNamespace(d.namespace)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// none fails if anything was decided.
func (d desk) none(t *testing.T) {
	t.Helper()
	if all := d.decisions(t); len(all) > 0 {
		t.Errorf("it was decided: %+v", all[0].Spec)
	}
}

// Who may approve, and nothing else, sees the plan and approves that very one.
func TestAnApproverApproves(t *testing.T) {
	d := newDesk(t)
	x := d.execution(t, "more", execution.WaitingApproval, nil)
	d.says(t, d.olga, plugin.NotAsWished, []string{
		"Scale Deployment web from 2 to 5 replicas", "Asked by " + d.dora, "UID " + string(d.web.UID), "spec.replicas: 2 → 5",
		"namespaces of production need an approval", oldDigest, "there is no terminal to ask",
		"kubectl statecraft approve more -n " + d.namespace, "--yes --digest=" + oldDigest,
	}, "approve", "more")
	d.says(t, d.olga, plugin.AsWished, []string{"Nothing was written."}, "approve", "more", "--dry-run=server")
	d.none(t)
	d.says(t, d.olga, plugin.AsWished, []string{"Approved by " + d.olga, "kubectl delete kxa more-"},
		"approve", "kx/more", "--yes", "--digest="+oldDigest, "--include-rollback", "--valid-for=2h", "--reason=The sale begins at noon.")
	all := d.decisions(t)
	if len(all) != 1 {
		t.Fatalf("%d decisions", len(all))
	}
	s := all[0].Spec
	hours := s.ValidUntil.Sub(all[0].CreationTimestamp.Time).Hours()
	if s.ExecutionRef.UID != x.UID || s.PlanDigest != oldDigest || s.Approver.Username != d.olga || !s.IncludesRollback || hours < 1.9 || hours > 2.1 {
		t.Errorf("%+v", s)
	}
	d.says(t, d.olga, plugin.NotAsWished, []string{"Plan", "spec.replicas: 2 → 5", "Approval", "kubectl statecraft approve more"}, "status", "kx/more")
}

// Admission refuses who asked, and who may not approve. Each hears why, and what to do.
func TestWhoMayNotDecide(t *testing.T) {
	d := newDesk(t)
	d.execution(t, "more", execution.WaitingApproval, nil)
	for _, verb := range []string{"approve", "reject"} {
		d.says(t, d.dora, plugin.NotAsWished, []string{
			"spec.replicas: 2 → 5", "the requester of an execution cannot approve, reject or acknowledge it.", "Another person who may approve in namespace",
		}, verb, "more", "--yes")
	}
	const next = "An administrator gives the right to approve: kubectl create rolebinding approvers"
	viewer := d.viewer(t)
	d.says(t, viewer, plugin.NotAsWished, []string{`cannot create resource "executionapprovals"`, next}, "approve", "more", "--yes")
	clerk := "clerk-" + d.namespace
	harness.Grant(t, d.admin, clerk, d.namespace, harness.Rule("get", remediationv1.GroupName, "kubernetesexecutions"),
		harness.Rule("create", remediationv1.GroupName, "executionapprovals"))
	d.says(t, clerk, plugin.NotAsWished, []string{"may not approve kubernetesexecutions more in namespace", next}, "approve", "more", "--yes")
	d.says(t, d.olga, plugin.CouldNotLook, []string{`"less" not found`}, "approve", "less", "--yes")
	d.none(t)
}

// What changes between the look and the decision is not approved.
func TestAStaleDigest(t *testing.T) {
	d := newDesk(t)
	x := d.execution(t, "more", execution.WaitingApproval, nil)
	d.says(t, d.olga, plugin.NotAsWished, []string{"--yes --digest=" + oldDigest}, "approve", "more")
	decider, err := plugin.NewDecider(d.ConfigFor(d.olga), d.namespace)
	if err != nil {
		t.Fatal(err)
	}
	looked, err := decider.Execution(t.Context(), "more")
	if err != nil {
		t.Fatal(err)
	}
	d.report(t, x, func(s *remediationv1.KubernetesExecutionStatus) { s.Plan.Digest = newDigest })
	d.says(t, d.olga, plugin.NotAsWished, []string{"The plan has changed since you looked at it", newDigest}, "approve", "more", "--yes", "--digest="+oldDigest)
	spec := remediationv1.ExecutionApprovalSpec{
		ExecutionRef: remediationv1.ExecutionRef{Name: looked.Name, UID: looked.UID}, PlanDigest: looked.Status.Plan.Digest, Decision: remediationv1.Approved,
	}
	harness.Eventually(t, timeout.Wait, poll, func() error { // admission sees executions by a watch
		_, err := decider.Decide(t.Context(), spec, true)
		if err == nil {
			return fmt.Errorf("the old plan is still approved")
		}
		const want = "spec.planDigest is not status.plan.digest of the execution, look at its plan again. The plan has changed since you looked at it"
		if words := kx.Refusal(err, spec.ExecutionRef, d.namespace); !strings.Contains(words, want) {
			t.Fatal(words)
		}
		return nil
	})
	d.none(t)
}

// An unknown outcome is acknowledged by a person who has looked, also once the execution is gone.
func TestAcknowledge(t *testing.T) {
	d := newDesk(t)
	unknown := func(s *remediationv1.KubernetesExecutionStatus) {
		s.Effect, s.Reason = remediationv1.EffectUnknown, execution.ReasonOutcomeUnknown
		s.ExecutionResults = &remediationv1.ExecutionResults{Witnesses: "No witness says whether the target was changed: the Job is gone."}
	}
	x := d.execution(t, "more", execution.Failed, unknown)
	d.mark(t, x)
	system := "--system-namespace=" + harness.SystemNamespace
	d.says(t, d.olga, plugin.NotAsWished, []string{
		"No witness says whether the target was changed: the Job is gone.", "You may not read Deployment web.", "kubectl get deployments web -n " + d.namespace,
		"You may not list pods", "You may not list leases", "If the change was made", "If it was not", "--reason=",
	}, "acknowledge", "more", system)
	d.none(t)
	keeper := "keeper-" + d.namespace // sees all of it
	d.bind(t, "edit", keeper)
	d.bind(t, "statecraft-remediation-approver", keeper)
	harness.Grant(t, d.admin, keeper, harness.SystemNamespace, harness.Rule("list", "coordination.k8s.io", "leases"))
	d.says(t, keeper, plugin.NotAsWished, []string{"On Deployment " + d.namespace + "/web", "The target bears no token.", "Written"}, "acknowledge", "more", system)
	d.says(t, d.dora, plugin.NotAsWished, []string{"Another person who may approve in namespace"}, "acknowledge", "more", "--reason=I was it", "--yes", system)
	d.says(t, d.olga, plugin.AsWished, []string{"Acknowledged by " + d.olga}, "acknowledge", "more", "--reason=2 replicas: not done", "--yes", system)

	if err := d.admin.Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	harness.Grant(t, d.admin, d.dora, harness.SystemNamespace, harness.Rule("list", "coordination.k8s.io", "leases"))
	uid := "--uid=" + string(x.UID)
	d.says(t, keeper, plugin.NotAsWished, []string{"is gone, and its mark is still there", uid}, "acknowledge", "more", system)
	d.says(t, d.olga, plugin.NotAsWished, []string{"If it is gone, name it by --uid.", "You may not list leases"}, "acknowledge", "more", system)
	d.says(t, keeper, plugin.NotAsWished, []string{"which is gone,", "On Deployment " + d.namespace + "/web", "Asked by " + d.dora}, "acknowledge", "more", uid, system)
	d.says(t, d.dora, plugin.NotAsWished, []string{"yourself, so your word does not count"}, "acknowledge", "more", uid, "--reason=I was it", "--yes", system)
	d.says(t, keeper, plugin.NotAsWished, []string{"No target is marked by"}, "acknowledge", "more", "--uid=another", system)
	d.says(t, keeper, plugin.AsWished, []string{"Acknowledged by " + keeper}, "acknowledge", "more", uid, "--reason=2 replicas: not done", "--yes", system)
	for _, a := range d.decisions(t) {
		if a.Spec.Decision != remediationv1.Acknowledged || a.Spec.ExecutionRef.UID != x.UID || a.Spec.Approver.Username == d.dora {
			t.Errorf("%+v", a.Spec)
		}
	}
}

// mark marks the Deployment, as the manager does before it says that an outcome is unknown.
func (d desk) mark(t *testing.T, x *remediationv1.KubernetesExecution) {
	t.Helper()
	by := reserve.RefOf(remediationv1.GroupVersion.WithKind("KubernetesExecution").GroupKind(), x)
	target := reserve.Ref{Kind: "Deployment.apps", Namespace: d.namespace, Name: "web", UID: d.web.UID}
	text, err := reserve.Unresolved{By: by, Requester: d.dora}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: harness.SystemNamespace, Name: read.LeaseName(d.web.UID),
		Annotations: map[string]string{read.TargetAnnotation: target.String(), read.UnresolvedAnnotation: string(text)},
	}}
	d.create(t, lease)
}

// The pack that decides in the cluster is tested with the rights of the person who asks.
func TestPolicyTestOfWhatIsInForce(t *testing.T) {
	d := newDesk(t)
	system := "--system-namespace=" + harness.SystemNamespace
	d.says(t, d.olga, plugin.CouldNotLook, []string{"read the policy pack", "is forbidden"}, "policy", "test", system)
	harness.Grant(t, d.admin, d.olga, harness.SystemNamespace, harness.Rule("list", "", "configmaps"))
	d.says(t, d.olga, plugin.AsWished, []string{"statecraft-remediation-policy/default_test.rego ok line", "tests passed."}, "policy", "test", system)
}
