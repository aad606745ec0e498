package remediation

import (
	"testing"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// asking makes an execution of an action on a target in a namespace.
func asking(in, action, kind, name string) func(*testing.T, *stage, actor) error {
	return creating(func(x *kx) {
		x.Namespace, x.Spec.Action, x.Spec.Target = in, action, remediationv1.TargetRef{Kind: kind, Name: name}
	})
}

// notIn is how RBAC refuses an editor of another namespace.
func notIn(in string) string {
	return `User "editor" cannot create resource "kubernetesexecutions" in API group "remediation.statecraft.dev" in the namespace "` + in + `"`
}

func access() []attack {
	return []attack{
		{name: "repair in another namespace", by: []string{editor}, says: notIn(elsewhere), try: asking(elsewhere, "test_scale", "Deployment", "web")},
		{name: "repair the operator", by: both, says: "actions do not repair objects in the operator's own namespace",
			rbac: notIn(harness.SystemNamespace), try: asking(harness.SystemNamespace, "test_scale", "Deployment", "statecraft-remediation")},
		{name: "repair a kind that the action does not take", by: both, says: "action test_scale takes Deployment, and not Secret",
			try: asking(namespace, "test_scale", "Secret", "web")},
		{name: "do what one may not do", by: []string{editor}, says: "editor may not patch resourcequotas few, which action test_limit does", proves: "access",
			try: asking(namespace, "test_limit", "ResourceQuota", "few")},
		{name: "do something else that one may not do", by: []string{editor}, says: "editor may not patch pods ordinary, which action test_evict does",
			try: asking(namespace, "test_evict", "Pod", "ordinary")},
		{name: "do what only a forged group may do", by: []string{editor}, says: "editor may not patch resourcequotas few, which action test_limit does",
			try: creating(func(x *kx) {
				x.Spec.Action, x.Spec.Target = "test_limit", remediationv1.TargetRef{Kind: "ResourceQuota", Name: "few"}
				x.Spec.Requester = &meta.Requester{Username: clusterAdmin, Groups: []string{"system:masters"}}
			})},
		{name: "repair a node with rights in a namespace", by: []string{visitor}, says: "visitor may not patch nodes worker, which action test_cordon does",
			try: asking(remediationv1.NodesNamespace, "test_cordon", "Node", "worker")},
		{name: "repair with rights in the namespace for nodes", by: []string{visitor}, says: "visitor may not patch deployments web, which action test_scale does",
			try: asking(remediationv1.NodesNamespace, "test_scale", "Deployment", "web")},
		{name: "repair a node from the operator's namespace", by: []string{clusterAdmin}, says: "actions do not repair objects in the operator's own namespace",
			try: asking(harness.SystemNamespace, "test_cordon", "Node", "worker")},
		{name: "repair a node from a namespace of users", by: []string{clusterAdmin}, says: "only executions and requests in namespace statecraft-actions repair nodes", proves: "namespaces",
			try: asking(namespace, "test_cordon", "Node", "worker")},
	}
}
