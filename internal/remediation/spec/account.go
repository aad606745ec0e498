package spec

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// Account is the ServiceAccount of an action in a namespace. It goes with the action.
func Account(namespace string, def *remediationv1.ActionDefinition) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: accountMeta(namespace, def)}
}

// Binding gives the account the role of the action, in its own namespace.
func Binding(namespace string, def *remediationv1.ActionDefinition) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: accountMeta(namespace, def),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: def.Spec.ClusterRoleName},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: AccountName(def)}},
	}
}

// AccountName is the name of the account of an action.
func AccountName(def *remediationv1.ActionDefinition) string {
	return execution.DefinitionAccount(remediationv1.ActionOf(def.Name))
}

func accountMeta(namespace string, def *remediationv1.ActionDefinition) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: AccountName(def),
		Labels:          map[string]string{"app.kubernetes.io/part-of": "statecraft", remediationv1.ActionLabel: def.Name},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(def, remediationv1.GroupVersion.WithKind("ActionDefinition"))},
	}
}
