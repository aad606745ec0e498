package remediation

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func (s *stage) actor(t testing.TB, name string, cfg *rest.Config) actor {
	t.Helper()
	return actor{Client: harness.ClientOf(t, cfg, s.admin), t: t, name: name, cfg: cfg}
}

// dryRun is the same actor who writes nothing.
func (a actor) dryRun() actor {
	a.Client, a.dry = client.NewDryRunClient(a.Client), true
	return a
}

// as is the actor who impersonates somebody.
func (a actor) as(user string, groups ...string) actor {
	cfg := rest.CopyConfig(a.cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return a.with(cfg)
}

// with is the actor by another way to the API server.
func (a actor) with(cfg *rest.Config) actor {
	b := actor{Client: harness.ClientOf(a.t, cfg, a.Client), t: a.t, name: a.name, cfg: cfg}
	if a.dry {
		return b.dryRun()
	}
	return b
}

// core makes the requests that the other client cannot make.
func (a actor) core() kubernetes.Interface {
	c, err := kubernetes.NewForConfig(a.cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

func (a actor) creating() metav1.CreateOptions {
	if a.dry {
		return metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	}
	return metav1.CreateOptions{}
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func merge(patch string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, patch, args...))
}

func clusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func roleBinding(in, kind, name, role string) *rbacv1.RoleBinding {
	subject := rbacv1.Subject{Kind: kind, Name: name, APIGroup: rbacv1.GroupName}
	if kind == rbacv1.ServiceAccountKind {
		subject.APIGroup, subject.Namespace = "", in
	}
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: in, GenerateName: "test-"}, RoleRef: clusterRole(role), Subjects: []rbacv1.Subject{subject},
	}
}

// definitions are actions with other rights than those that the product brings.
func definitions() (all []*remediationv1.ActionDefinition) {
	for name, of := range map[string]struct {
		kind   remediationv1.TargetKind
		access []remediationv1.Access
	}{
		"test-scale": {
			remediationv1.TargetKind{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"},
			[]remediationv1.Access{{Group: "apps", Resource: "deployments", Verb: "patch"}},
		},
		"test-limit": {
			remediationv1.TargetKind{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas"},
			[]remediationv1.Access{{Resource: "resourcequotas", Verb: "patch"}},
		},
		"test-evict": {
			remediationv1.TargetKind{Version: "v1", Kind: "Pod", Resource: "pods"},
			[]remediationv1.Access{{Resource: "pods", Verb: "get"}, {Resource: "pods", Subresource: "status", Verb: "patch"}},
		},
		"test-cordon": {
			remediationv1.TargetKind{Version: "v1", Kind: "Node", Resource: "nodes"},
			[]remediationv1.Access{{Resource: "nodes", Verb: "patch"}},
		},
	} {
		all = append(all, &remediationv1.ActionDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: remediationv1.ActionDefinitionSpec{
				Description: "It is there to be attacked.", Builtin: "none", ClusterRoleName: remediationv1.AccountPrefix + name,
				Access: of.access, TargetKinds: []remediationv1.TargetKind{of.kind},
			},
		})
	}
	return all
}
