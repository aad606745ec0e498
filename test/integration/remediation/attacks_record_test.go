package remediation

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func tokenRequest() *authenticationv1.TokenRequest { return &authenticationv1.TokenRequest{} }

func record() []attack {
	const running = "execution executing is executing: set spec.cancel to true, and delete it when it has ended"
	all := func(t *testing.T, _ *stage, a actor) error {
		return a.DeleteAllOf(t.Context(), &kx{}, client.InNamespace(namespace), client.MatchingLabels{"is": "executing"})
	}
	return []attack{
		{name: "delete what is executing", by: []string{editor, clusterAdmin, manager}, says: running, proves: "deletion", try: deleting(executing)},
		{name: "delete it in the foreground", by: both, says: running, try: deleting(executing, client.PropagationPolicy(metav1.DeletePropagationForeground))},
		{name: "delete it and keep its Job", by: both, says: running, try: deleting(executing, client.PropagationPolicy(metav1.DeletePropagationOrphan))},
		{name: "delete all that are executing", by: both, says: running, rbac: `cannot deletecollection resource "kubernetesexecutions"`, try: all},
		{name: "say that it has ended, and delete it", by: both, says: statusIsOurs, rbac: noStatus, try: func(t *testing.T, s *stage, a actor) error {
			if err := patchingStatus(executing, `{"status":{"phase":"failed"}}`)(t, s, a); err != nil {
				return err
			}
			return deleting(executing)(t, s, a)
		}},
		{name: "have its owner collected", by: both, says: notTheManager + "changes owners and finalizers of its objects", try: patching(
			executing, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`)},
		{name: "make the reservation of an unresolved target free", by: []string{editor}, says: `cannot create resource "leases"`, try: making(func() client.Object {
			return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "target"}}
		})},
	}
}

func input() []attack {
	spec := func(change func(*remediationv1.KubernetesExecutionSpec)) func(*testing.T, *stage, actor) error {
		return creating(func(x *kx) { change(&x.Spec) })
	}
	const action = "spec.action: Invalid value"
	return []attack{
		{name: "an action that begins with a dash", by: both, says: action, try: spec(func(s *remediationv1.KubernetesExecutionSpec) { s.Action = "--kubeconfig" })},
		{name: "an action with a command", by: both, says: action, try: spec(func(s *remediationv1.KubernetesExecutionSpec) { s.Action = "test_scale$(id)" })},
		{name: "an action with a second line", by: both, says: action, try: spec(func(s *remediationv1.KubernetesExecutionSpec) { s.Action = "test_scale\ntest_limit" })},
		{name: "an action by the name of its definition", by: both, says: action, try: spec(func(s *remediationv1.KubernetesExecutionSpec) { s.Action = "test-scale" })},
		{name: "a target with a very long name", by: both, says: "spec.target.name: Too long", try: spec(func(s *remediationv1.KubernetesExecutionSpec) {
			s.Target.Name = strings.Repeat("x", 1<<20)
		})},
		{name: "a condition with Rego in it", by: both, says: "spec.preConditions[0].name: Invalid value", try: spec(func(s *remediationv1.KubernetesExecutionSpec) {
			s.PreConditions[0].Name = "calm { http.send({}) }"
		})},
		{name: "too many parameters", by: both, says: "spec.parameters: Too many", try: spec(func(s *remediationv1.KubernetesExecutionSpec) {
			for i := range 40 {
				s.Parameters[strings.Repeat("x", i+1)] = apiextensionsv1.JSON{Raw: []byte("1")}
			}
		})},
		{name: "parameters of 4 MiB", by: both, says: "too large", try: spec(func(s *remediationv1.KubernetesExecutionSpec) {
			s.Parameters["replicas"] = apiextensionsv1.JSON{Raw: []byte(`"` + strings.Repeat("x", 4<<20) + `"`)}
		})},
		{name: "a digest that is none", by: both, says: "spec.planDigest: Invalid value", try: deciding(anothers, remediationv1.Approved, func(a *kxa) { a.Spec.PlanDigest = "*" })},
		{name: "an image with an argument", by: []string{clusterAdmin}, says: "spec.image: Invalid value", try: defining(func(d *kad) {
			d.Spec.Builtin, d.Spec.Image = "", "action --privileged@sha256:"+digest
		})},
		{name: "an argument of 1 MiB", by: []string{clusterAdmin}, says: "Too long", try: defining(func(d *kad) {
			d.Spec.Builtin, d.Spec.Image, d.Spec.Args = "", "action@sha256:"+digest, []string{strings.Repeat("x", 1<<20)}
		})},
	}
}
