package remediation

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// The people of the stories: one asks, the other approves.
const (
	requester = "dora"
	approver  = "olga"
)

// account performs the action of the stories.
const account = remediationv1.AccountPrefix + "scale-deployment"

// install installs the area, and gives rights once and for all: when a new binding is in force is not the same every
// time, so all accounts have the role of the action before the controllers bind it.
func install(t testing.TB, b *bed.Bed) {
	t.Helper()
	harness.Install(t, b, area)
	c, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	group := rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts"}
	grant(t, c, account, group, nil)
	grant(t, c, "sim-"+requester, user(requester), []rbacv1.PolicyRule{
		harness.Rule("*", remediationv1.GroupName, "kubernetesexecutions"), harness.Rule("*", remediationv1.GroupName, "remediationrequests"), harness.Rule("patch", "apps", "deployments"),
	})
	grant(t, c, "sim-"+approver, user(approver), []rbacv1.PolicyRule{
		harness.Rule(remediationv1.VerbApprove, remediationv1.GroupName, "kubernetesexecutions"),
		harness.Rule("create", remediationv1.GroupName, "executionapprovals"),
	})
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
}

// grant binds a role everywhere; it makes the role if there are rules.
func grant(t testing.TB, c client.Client, role string, to rbacv1.Subject, rules []rbacv1.PolicyRule) {
	t.Helper()
	objects := []client.Object{&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "sim-" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{to},
	}}
	if rules != nil {
		objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: rules})
	}
	for _, obj := range objects {
		if err := c.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

// The role that lets the manager act as accounts of actions is filled in by a controller.
const (
	rightsWithin = 30 * time.Second
	rightsPoll   = 50 * time.Millisecond
)

// connect is how a manager that runs as a pod reaches the API server.
func connect(t testing.TB, b *bed.Bed) *rest.Config {
	t.Helper()
	config, _ := harness.ConfigForPod(t, b, harness.SystemNamespace, "statecraft-"+area)
	manager, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	as := rest.CopyConfig(config)
	as.Impersonate.UserName = userName(metav1.NamespaceDefault, account)
	c, err := client.New(as, client.Options{Mapper: manager.RESTMapper()}) // the account may not ask what kinds there are
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, rightsWithin, rightsPoll, func() error {
		return client.IgnoreNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "none"}, &appsv1.Deployment{}))
	})
	return config
}
