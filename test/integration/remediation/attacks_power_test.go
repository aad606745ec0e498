package remediation

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

type kad = remediationv1.ActionDefinition

// defining defines an action, as somebody has tampered with it.
func defining(change func(*kad)) func(*testing.T, *stage, actor) error {
	return making(func() client.Object {
		d := definitions()[0].DeepCopy()
		d.Name, d.Spec.ClusterRoleName = "mine", remediationv1.AccountPrefix+"mine"
		change(d)
		return d
	})
}

// labelling enables actions in a namespace, or disables them.
func labelling(name, subresource, value string) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		obj := &corev1.Namespace{}
		if err := s.admin.Get(t.Context(), client.ObjectKey{Name: name}, obj); err != nil {
			t.Fatal(err)
		}
		obj.Labels[remediationv1.EnabledLabel] = value
		switch subresource {
		case "":
			return a.Update(t.Context(), obj)
		case "finalize":
			_, err := a.core().CoreV1().Namespaces().Finalize(t.Context(), obj, a.updating())
			return err
		}
		return a.SubResource(subresource).Update(t.Context(), obj)
	}
}

func (a actor) updating() metav1.UpdateOptions {
	return metav1.UpdateOptions{DryRun: a.creating().DryRun}
}

// binding gives a role to somebody.
func binding(kind, name, role string) func(*testing.T, *stage, actor) error {
	return making(func() client.Object { return roleBinding(namespace, kind, name, role) })
}

// speakingAsTheManager does something in its name, by a way that others have.
func speakingAsTheManager(by func(*testing.T, *stage, actor) actor, do func(*testing.T, *stage, actor) error) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error { return do(t, s, by(t, s, a)) }
}

func byImpersonation(_ *testing.T, _ *stage, a actor) actor { return a.as(managerUser) }
func byCertificate(_ *testing.T, s *stage, a actor) actor {
	return a.with(s.bed.ConfigFor(managerUser))
}

// byToken is with a token from before the policies: now only kubelets get one.
func byToken(t *testing.T, s *stage, a actor) actor {
	r, err := s.actors[masters].core().CoreV1().ServiceAccounts(harness.SystemNamespace).CreateToken(t.Context(), "statecraft-remediation", tokenRequest(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a.bearing(r.Status.Token)
}

func power() []attack {
	const (
		enable   = "label remediation.statecraft.dev/enabled needs the verb enable on kubernetesexecutions, which landlord does not have in namespace "
		mayBind  = "a binding of the role or the account of an action needs the right to bind the role, and "
		notBound = "the manager of area remediation binds roles of actions to their own accounts, and nothing else"
		isItsPod = "the manager of area remediation acts from its own pod, with a token that is bound to it"
		defines  = `cannot create resource "actiondefinitions" in API group "remediation.statecraft.dev" at the cluster scope`
	)
	approving := func(t *testing.T, s *stage, a actor) error {
		return a.Status().Patch(t.Context(), s.waiting.DeepCopy(), merge(`{"status":{"approvalReceived":{"approver":"boss","planDigest":"%s"}}}`, digest))
	}
	return []attack{
		{name: "enable actions in a namespace", by: []string{landlord}, says: enable + elsewhere, proves: "namespaces-enabled", try: labelling(elsewhere, "", "true")},
		{name: "enable actions by the status of a namespace", by: []string{landlord}, says: enable + elsewhere, try: labelling(elsewhere, "status", "true")},
		{name: "enable actions by the end of a namespace", by: []string{landlord}, says: enable + elsewhere, try: labelling(elsewhere, "finalize", "true")},
		{name: "make a namespace with actions", by: []string{landlord}, says: enable + "mine", try: making(func() client.Object {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{remediationv1.EnabledLabel: "true"}}}
		})},
		{name: "disable actions in a namespace", by: []string{landlord}, says: enable + namespace, try: labelling(namespace, "", "false")},
		{name: "define an action", by: []string{editor}, says: defines, try: defining(func(*kad) {})},
		{name: "define an action over the role of another", by: []string{clusterAdmin, definer}, says: "spec.clusterRoleName of action mine must be statecraft-action-mine",
			try: defining(func(d *kad) { d.Spec.ClusterRoleName = "cluster-admin" })},
		{name: "define an action without the right to bind its role", by: []string{definer},
			says: "an action has the rights of its role, and definer may not bind clusterroles statecraft-action-mine", proves: "definition", try: defining(func(*kad) {})},
		{name: "define an action with an image without digest", by: []string{clusterAdmin, definer}, says: "spec.image: Invalid value", try: defining(func(d *kad) {
			d.Spec.Builtin, d.Spec.Image = "", "registry.example/action:latest"
		})},
		{name: "define an action that is both", by: []string{clusterAdmin, definer}, says: "an action has one of builtin and image", try: defining(func(d *kad) {
			d.Spec.Image = "registry.example/action@sha256:" + digest
		})},
		{name: "change an action", by: []string{clusterAdmin, definer}, says: "an action cannot be changed: delete it and make it anew",
			try: changing(func(*stage) *kad { return &kad{ObjectMeta: metav1.ObjectMeta{Name: "test-scale"}} }, `{"spec":{"access":[{"resource":"pods","verb":"get"}]}}`)},
		{name: "bind the role of an action to oneself", by: []string{owner}, says: mayBind + "owner may not bind statecraft-action-scale-deployment", proves: "rolebindings",
			try: binding(rbacv1.UserKind, owner, remediationv1.AccountPrefix+"scale-deployment")},
		{name: "give an action another role", by: []string{owner}, says: mayBind + "owner may not bind edit", try: binding(rbacv1.ServiceAccountKind, account, "edit")},
		{name: "give an action another role as a user", by: []string{owner}, says: mayBind + "owner may not bind edit", try: binding(rbacv1.UserKind, accountUser, "edit")},
		{name: "join the binding of an action", by: []string{owner}, says: mayBind + "owner may not bind " + account, try: func(t *testing.T, s *stage, a actor) error {
			list := &rbacv1.RoleBindingList{}
			if err := s.admin.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
				t.Fatal(err)
			}
			for _, b := range list.Items {
				if b.RoleRef.Name == account {
					b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: owner})
					return a.Update(t.Context(), &b)
				}
			}
			t.Fatal("the action has no binding")
			return nil
		}},
		{name: "let the manager bind a role of one's own", by: []string{definer}, says: "is attempting to grant RBAC permissions not currently held", try: making(func() client.Object {
			return &rbacv1.ClusterRole{
				ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{remediationv1.GroupName + "/bind": "true"}},
				Rules:      []rbacv1.PolicyRule{harness.Rule("bind", rbacv1.GroupName, "clusterroles", "cluster-admin")},
			}
		})},
		{name: "bind another role", by: []string{manager}, says: "is attempting to grant RBAC permissions not currently held", try: binding(rbacv1.ServiceAccountKind, "default", "edit")},
		{name: "bind the role of an action to somebody", by: []string{manager}, says: notBound, try: binding(rbacv1.UserKind, editor, account)},
		{name: "bind the role of an action to another account", by: []string{manager}, says: notBound, try: binding(rbacv1.ServiceAccountKind, "default", account)},
		{name: "bind the role of an action everywhere", by: []string{manager}, says: notBound, try: making(func() client.Object {
			return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, RoleRef: clusterRole(account), Subjects: []rbacv1.Subject{
				{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace},
			}}
		})},
		{name: "write as an action", by: []string{manager}, says: "an action acts from its own pod, with a token that is bound to it", try: func(t *testing.T, _ *stage, a actor) error {
			return scaling(t, a.as(accountUser))
		}},
		{name: "delete as an action", by: []string{manager}, says: "is forbidden", try: func(t *testing.T, _ *stage, a actor) error {
			return a.as(accountUser).Delete(t.Context(), deployment("web", ""))
		}},
		{name: "speak as the manager", by: []string{clusterAdmin}, says: isItsPod, proves: "manager", try: speakingAsTheManager(byImpersonation, approving)},
		{name: "impersonate the manager", by: []string{editor}, says: `cannot impersonate resource "serviceaccounts"`, try: func(t *testing.T, _ *stage, a actor) error {
			cfg := rest.CopyConfig(a.cfg)
			cfg.Impersonate.UserName = managerUser
			c, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
			return err
		}},
		{name: "speak as the manager by a certificate", by: []string{clusterAdmin}, says: isItsPod, try: speakingAsTheManager(byCertificate, approving)},
		{name: "speak as the manager by a token", by: []string{clusterAdmin}, says: isItsPod, try: speakingAsTheManager(byToken, approving)},
		{name: "make a Job as the manager", by: []string{clusterAdmin}, says: isItsPod, try: speakingAsTheManager(byToken, making(func() client.Object { return actionJob("stolen") }))},
		{name: "make an account as the manager", by: []string{clusterAdmin}, says: isItsPod, try: speakingAsTheManager(byToken, making(func() client.Object {
			return &corev1.ServiceAccount{ObjectMeta: named(remediationv1.AccountPrefix + "stolen")}
		}))},
		{name: "free a target as the manager", by: []string{clusterAdmin}, says: isItsPod, try: speakingAsTheManager(byImpersonation, making(func() client.Object {
			return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "target"}}
		}))},
		{name: "withdraw a rejection as the manager", by: []string{clusterAdmin}, says: isItsPod, try: speakingAsTheManager(byImpersonation,
			func(t *testing.T, s *stage, a actor) error { return a.Delete(t.Context(), s.rejection.DeepCopy()) })},
	}
}
