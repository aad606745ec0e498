// Package remediation attacks area remediation on a real control plane, with its policies and roles and without a
// manager: what admission must stop, it stops alone.
package remediation

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area = "remediation"
	soon = timeout.Wait
	poll = 50 * time.Millisecond // between two looks

	namespace = "shop"  // where actions run
	elsewhere = "depot" // another team's, where they do not
)

// Who attacks.
const (
	editor       = "editor"        // has the role edit, and may approve
	clusterAdmin = "cluster-admin" // may do everything, but is no system:masters
	requester    = "requester"     // has the role edit
	approver     = "approver"      // may approve, and no more
	rejecter     = "rejecter"      // as well
	clerk        = "clerk"         // may make approvals, and not approve
	visitor      = "visitor"       // has the role edit in namespace statecraft-actions
	landlord     = "landlord"      // may change namespaces
	definer      = "definer"       // may define actions
	owner        = "owner"         // has the role admin
	bot          = "bot"           // a ServiceAccount that may approve
	masters      = "system:masters"
	manager      = "manager"
	action       = "action" // in the pod of one
)

// The accounts.
const (
	account     = remediationv1.AccountPrefix + "test-scale" // of an action
	managerUser = "system:serviceaccount:" + harness.SystemNamespace + ":statecraft-remediation"
	accountUser = "system:serviceaccount:" + namespace + ":" + account
)

// The plans that executions have.
var (
	digest      = strings.Repeat("a", 64)
	otherDigest = strings.Repeat("b", 64)
)

// actor is somebody with a way to the API server.
type actor struct {
	client.Client
	t    testing.TB
	name string
	cfg  *rest.Config
	dry  bool // writes nothing
}

// stage has everything that attacks need. All tests use one: it takes a while, and refused attacks change nothing.
type stage struct {
	bed    *bed.Bed
	admin  client.Client // system:masters
	actors map[string]actor

	waiting, planless, executing, begun, cancelled *remediationv1.KubernetesExecution // made by requester
	own                                            map[string]*remediationv1.KubernetesExecution
	rejection                                      *remediationv1.ExecutionApproval // by rejecter, of waiting
	job, suspended                                 *batchv1.Job                     // of actions
	pod                                            *corev1.Pod                      // of job
}

var theStage struct {
	sync.Once
	*stage
}

func newStage(t *testing.T) *stage {
	t.Helper()
	theStage.Do(func() {
		b := bedtest.ControlPlane(t)
		s := &stage{bed: b, actors: map[string]actor{}, own: map[string]*remediationv1.KubernetesExecution{}}
		s.build(t)
		theStage.stage = s
	})
	if theStage.stage == nil {
		t.Fatal("the stage could not be built")
	}
	return theStage.stage
}

func (s *stage) build(t *testing.T) {
	t.Helper()
	s.admin = harness.Client(t, s.bed, remediationv1.AddToScheme)
	harness.Install(t, s.bed, area)
	for name, enabled := range map[string]string{namespace: "true", elsewhere: ""} {
		s.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{remediationv1.EnabledLabel: enabled}}})
	}
	for _, d := range definitions() {
		s.create(t, d)
	}
	s.people(t)
	harness.Apply(t, s.bed, strangers)
	s.targets(t)
	s.executions(t)
	s.run(t)
	s.settle(t)
	s.schedule(t)
}

// people are given their roles.
func (s *stage) people(t *testing.T) {
	t.Helper()
	for name, roles := range map[string][]string{
		editor: {"edit", "statecraft-remediation-approver"}, requester: {"edit"}, owner: {"admin"},
		approver: {"statecraft-remediation-approver"}, rejecter: {"statecraft-remediation-approver"},
	} {
		for _, role := range roles {
			s.create(t, roleBinding(namespace, rbacv1.UserKind, name, role))
		}
	}
	s.create(t, roleBinding(remediationv1.NodesNamespace, rbacv1.UserKind, visitor, "edit"))
	s.create(t, roleBinding(namespace, rbacv1.ServiceAccountKind, bot, "statecraft-remediation-approver"))
	s.create(t, roleBinding(namespace, rbacv1.ServiceAccountKind, account, "statecraft-remediation-edit"))
	s.create(t, roleBinding(namespace, rbacv1.ServiceAccountKind, account, account))
	s.create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, RoleRef: clusterRole("cluster-admin"),
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: clusterAdmin}},
	})
	harness.Grant(t, s.admin, clerk, namespace, harness.Rule("create", remediationv1.GroupName, "executionapprovals"))
	harness.Grant(t, s.admin, landlord, "", harness.Rule("*", "", "namespaces"), harness.Rule("*", "", "namespaces/status"), harness.Rule("*", "", "namespaces/finalize"))
	harness.Grant(t, s.admin, definer, "", harness.Rule("*", remediationv1.GroupName, "actiondefinitions"), harness.Rule("create", rbacv1.GroupName, "clusterroles"))
	harness.Grant(t, s.admin, managerUser, "", // what role.yaml will say, and more: policies are what is tried here
		harness.Rule("*", remediationv1.GroupName, "*"), harness.Rule("*", "batch", "jobs"), harness.Rule("*", "", "pods"),
		harness.Rule("*", "", "serviceaccounts"), harness.Rule("*", rbacv1.GroupName, "rolebindings"), harness.Rule("*", rbacv1.GroupName, "clusterrolebindings"),
		harness.Rule("*", "coordination.k8s.io", "leases"), harness.Rule("bind", rbacv1.GroupName, "clusterroles", account),
		harness.Rule("impersonate:serviceaccount", "authentication.k8s.io", "serviceaccounts", account),
		harness.Rule("impersonate-on:serviceaccount:patch", "apps", "deployments"))
	for _, name := range []string{editor, clusterAdmin, requester, approver, rejecter, clerk, visitor, landlord, definer, owner} {
		s.actors[name] = s.actor(t, name, s.bed.ConfigFor(name))
	}
	s.actors[masters] = s.actor(t, masters, s.bed.Config())
	for name, in := range map[string][2]string{
		manager: {harness.SystemNamespace, "statecraft-remediation"}, bot: {namespace, bot}, action: {namespace, account},
	} {
		cfg, _ := harness.ConfigForPod(t, s.bed, in[0], in[1])
		s.actors[name] = s.actor(t, name, cfg)
	}
}

// strangers are policies of others, which change what users make. Policies run in no order.
const strangers = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: zz-forger}
spec:
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules:
    - {apiGroups: [remediation.statecraft.dev], apiVersions: ["*"], operations: [CREATE], resources: [kubernetesexecutions, executionapprovals]}
  matchConditions: [{name: asked, expression: "'forge' in object.metadata.?annotations.orValue({})"}]
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: "add", path: object.metadata.annotations['forge'], value: 'groups' in object.metadata.annotations
        ? {"username": dyn(request.userInfo.username), "groups": dyn(["system:masters"])} : {"username": dyn("somebody-else")}},
        JSONPatch{op: "add", path: "/metadata/annotations/forged", value: dyn("true")}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: zz-forger}
spec: {policyName: zz-forger}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: zz-mesh}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], operations: [CREATE], resources: [pods]}
  matchConditions: [{name: asked, expression: "'inject' in object.metadata.?annotations.orValue({})"}]
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: "add", path: object.metadata.annotations['inject'], value:
        object.metadata.annotations['inject'] == '/spec/containers/-' ? dyn({"name": "mesh", "image": "mesh"}) : dyn([{"name": "mesh", "image": "mesh"}])}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: zz-mesh}
spec: {policyName: zz-mesh}
`

func (s *stage) targets(t *testing.T) {
	t.Helper()
	s.create(t, deployment("web", "default"))
	s.create(t, &corev1.ConfigMap{ObjectMeta: named("settings")})
	s.create(t, &corev1.Pod{ObjectMeta: named("ordinary"), Spec: podSpec("default")})
	s.create(t, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: []rbacv1.PolicyRule{harness.Rule("get", "apps", "deployments"), harness.Rule("patch", "apps", "deployments")},
	})
	s.create(t, &corev1.Secret{ // of another account
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "robot", Annotations: map[string]string{corev1.ServiceAccountNameKey: bot}},
		Type:       corev1.SecretTypeServiceAccountToken,
	})
}

// executions are made by a user, and the manager has brought them to where they are.
func (s *stage) executions(t *testing.T) {
	t.Helper()
	s.waiting = s.execution(t, requester, "waiting", `{"phase":"waiting_approval",`+plan(digest)+`}`)
	s.planless = s.execution(t, requester, "planless", `{"phase":"validating"}`)
	s.executing = s.execution(t, requester, "executing", `{"phase":"executing","effect":"Started",`+plan(digest)+`}`)
	s.begun = s.execution(t, requester, "begun", `{"phase":"failed","effect":"Unknown"}`)
	s.cancelled = s.execution(t, requester, "cancelled", `{"phase":"failed"}`)
	for _, name := range []string{editor, clusterAdmin} {
		s.own[name] = s.execution(t, name, "of-"+name, `{"phase":"waiting_approval",`+plan(digest)+`}`)
	}
	harness.Eventually(t, soon, poll, func() error {
		return s.actors[manager].Patch(t.Context(), s.begun, merge(`{"metadata":{"annotations":{"%s":"%s"}}}`, remediationv1.BegunAnnotation, s.begun.UID))
	})
	if err := s.actors[requester].Patch(t.Context(), s.cancelled, merge(`{"spec":{"cancel":true}}`)); err != nil {
		t.Fatal(err)
	}
}

func plan(digest string) string {
	return `"plan":{"digest":"` + digest + `","target":{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"1"},"policy":{"pack":"1","allowed":true},` +
		`"content":"1","footprint":"1","action":"1","account":"` + account + `"}`
}

func (s *stage) execution(t *testing.T, by, name, status string) *remediationv1.KubernetesExecution {
	t.Helper()
	x := execution(name)
	x.Labels = map[string]string{"is": name}
	harness.Eventually(t, soon, poll, func() error { return s.actors[by].Create(t.Context(), x) })
	harness.Eventually(t, soon, poll, func() error {
		return s.actors[manager].Status().Patch(t.Context(), x, merge(`{"status":%s}`, status))
	})
	return x
}

// run runs an action, as far as there is a node to run it on.
func (s *stage) run(t *testing.T) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if s.rejection != nil {
			return nil
		}
		a := approval(s.waiting, remediationv1.Rejected)
		a.Name = "rejection"
		if err := s.actors[rejecter].Create(t.Context(), a); err != nil {
			return err
		}
		s.rejection = a
		return nil
	})
	s.suspended, s.job = actionJob("suspended"), actionJob("running")
	for _, j := range []*batchv1.Job{s.suspended, s.job} {
		if err := s.actors[manager].Create(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.actors[manager].Patch(t.Context(), s.job, merge(`{"spec":{"suspend":false}}`)); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, soon, poll, func() error {
		pods := &corev1.PodList{}
		if err := s.admin.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: s.job.Name}); err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("job %s has %d pods", s.job.Name, len(pods.Items))
		}
		s.pod = &pods.Items[0]
		return nil
	})
}

// settle waits until the API server knows everybody's rights, all executions and the policies of others.
func (s *stage) settle(t *testing.T) {
	t.Helper()
	for by, own := range s.own {
		harness.Eventually(t, soon, poll, func() error {
			return harness.Refused(t, s.actors[by], approval(own, remediationv1.Approved), notOnesOwn)
		})
	}
	harness.Eventually(t, soon, poll, func() error {
		x := execution("probe")
		x.Annotations = map[string]string{"forge": "/spec/requester"}
		if err := harness.Refused(t, s.actors[editor], x, "spec.requester must be"); err == nil {
			return nil
		}
		if err := s.actors[editor].dryRun().Create(t.Context(), x); err != nil || x.Annotations["forged"] == "" {
			return fmt.Errorf("nobody forges anything yet: %w", err)
		}
		return nil
	})
	harness.Eventually(t, soon, poll, func() error {
		p := &corev1.Pod{ObjectMeta: named("probe"), Spec: podSpec("default")}
		p.Annotations = map[string]string{"inject": "/spec/containers/-"}
		if err := s.admin.Create(t.Context(), p, client.DryRunAll); err != nil || len(p.Spec.Containers) != 2 {
			return fmt.Errorf("no container is injected yet: %w", err)
		}
		return nil
	})
	for name, try := range map[string]func(actor) error{
		clusterAdmin: func(a actor) error { return a.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("probe")}) },
		owner:        func(a actor) error { return a.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("probe")}) },
		approver:     func(a actor) error { return a.Create(t.Context(), approval(s.planless, remediationv1.Acknowledged)) },
		bot: func(a actor) error {
			return a.List(t.Context(), &remediationv1.ExecutionApprovalList{}, client.InNamespace(namespace))
		},
		action: func(a actor) error {
			return a.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, deployment("web", ""))
		},
		landlord: func(a actor) error { return a.Get(t.Context(), client.ObjectKey{Name: namespace}, &corev1.Namespace{}) },
		definer:  func(a actor) error { return a.List(t.Context(), &remediationv1.ActionDefinitionList{}) },
	} {
		harness.Eventually(t, soon, poll, func() error { return try(s.actors[name].dryRun()) })
	}
}

func (s *stage) create(t testing.TB, obj client.Object) {
	t.Helper()
	if err := s.admin.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}
