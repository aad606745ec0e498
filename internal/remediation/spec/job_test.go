package spec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// TestThePodIsKeptFromOthers: no Service of the namespace takes the place of the API server, and no mesh adds a container.
func TestThePodIsKeptFromOthers(t *testing.T) {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "u1"}}
	def := &remediationv1.ActionDefinition{Spec: remediationv1.ActionDefinitionSpec{
		Builtin: "rollout_restart", TargetKinds: []remediationv1.TargetKind{{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}},
	}}
	j, err := Job(x, def)
	if err != nil {
		t.Fatal(err)
	}
	pod := j.Spec.Template
	if links := pod.Spec.EnableServiceLinks; links == nil || *links {
		t.Error("Services are in the environment of the pod: one named kubernetes would be its API server")
	}
	if pod.Labels["sidecar.istio.io/inject"] != "false" || pod.Annotations["linkerd.io/inject"] != "disabled" {
		t.Errorf("a mesh would add a container: %v, %v", pod.Labels, pod.Annotations)
	}
	if j.Labels["sidecar.istio.io/inject"] != "" || pod.Labels[remediationv1.ExecutionLabel] != "x1" {
		t.Errorf("the Job is labelled %v, its pod %v", j.Labels, pod.Labels)
	}
}

// TestTheJobIsWhereItsOwnerIs: the collector deletes what has an owner in another namespace.
func TestTheJobIsWhereItsOwnerIs(t *testing.T) {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "u1"}}
	def := &remediationv1.ActionDefinition{Spec: remediationv1.ActionDefinitionSpec{
		Builtin: "rollout_restart", TargetKinds: []remediationv1.TargetKind{{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}},
	}}
	j, err := Job(x, def)
	if err != nil {
		t.Fatal(err)
	}
	if owner := metav1.GetControllerOf(j); j.Namespace != x.Namespace || owner == nil || owner.UID != x.UID || owner.Kind != "KubernetesExecution" {
		t.Errorf("the Job is in namespace %q, and its owner is %+v", j.Namespace, owner)
	}
}

// TestADrainDoesNotRunOnItsNode: its pod would be one of those that it waits for.
func TestADrainDoesNotRunOnItsNode(t *testing.T) {
	for builtin, want := range map[string]*corev1.Affinity{
		"cordon_node": nil,
		"drain_node": {NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"n1"}},
			}}},
		}}},
	} {
		def := &remediationv1.ActionDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: remediationv1.DefinitionOf(builtin)},
			Spec: remediationv1.ActionDefinitionSpec{
				Builtin: builtin, TargetKinds: []remediationv1.TargetKind{{Version: "v1", Kind: "Node", Resource: "nodes"}},
			},
		}
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: remediationv1.NodesNamespace, Name: "x", UID: "x1"}}
		x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "u1"}}
		j, err := Job(x, def)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, j.Spec.Template.Spec.Affinity); diff != "" {
			t.Errorf("%s: %s", builtin, diff)
		}
	}
}
