//go:build full

package remediation

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// deed is one action on one object.
type deed struct {
	action, builtin string // the builtin, if it has another name
	target          schema.GroupVersionKind
	name            string
	parameters      string
}

var (
	deployment  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSet = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	daemonSet   = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}
	configMap   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	pod         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	nodeKind    = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
)

// TestActionsOfANamespace does every action that works in a namespace, and takes it back where that is possible.
func TestActionsOfANamespace(t *testing.T) {
	s := newStage(t)
	s.production() // so the policy wants a dry run and an approval
	s.workloads()
	const newImage = `{"container":"main","image":"image.invalid/none:2"}`
	for _, d := range []deed{
		{action: "scale_deployment", target: deployment, name: "web", parameters: `{"replicas":3}`},
		{action: "scale_statefulset", target: statefulSet, name: "db", parameters: `{"replicas":2}`},
		{action: "rollout_restart", target: deployment, name: "web"},
		{action: "rollout_restart_statefulset", builtin: "rollout_restart", target: statefulSet, name: "db"},
		{action: "rollout_restart_daemonset", builtin: "rollout_restart", target: daemonSet, name: "agent"},
		{action: "update_image", target: deployment, name: "web", parameters: newImage},
		{action: "update_image_statefulset", builtin: "update_image", target: statefulSet, name: "db", parameters: newImage},
		{action: "update_image_daemonset", builtin: "update_image", target: daemonSet, name: "agent", parameters: newImage},
		{action: "update_configmap", target: configMap, name: "settings", parameters: `{"data":{"a":"9","new":"x"},"removeKeys":"b"}`},
	} {
		t.Run(d.action, func(t *testing.T) { s.of(t).does(s.dora, d) })
	}
	t.Run("delete_pod", func(t *testing.T) { s.of(t).deletesAPod() })
}

// TestActionsOnNodes cordons, uncordons and drains a node.
func TestActionsOnNodes(t *testing.T) {
	s := newStage(t)
	s.deploy("crowd", 6)
	bindings, err := os.ReadFile(filepath.Join(harness.Root(t), "config", "samples", "remediation", "nodes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	harness.Apply(t, s.bed, string(bindings))
	n := *s
	n.namespace = remediationv1.NodesNamespace
	n.production()
	n.bind("statecraft-remediation-approver", approver)
	node := s.bed.Nodes()[2].Name()
	t.Run("cordon_node", func(t *testing.T) { n.of(t).does(s.admin, deed{action: "cordon_node", target: nodeKind, name: node}) })
	t.Run("drain_node", func(t *testing.T) { n.of(t).drains(node) })
}

// of is the stage in a test of its own.
func (s *stage) of(t *testing.T) *stage {
	c := *s
	c.T = t
	return &c
}

// workloads are one of each kind that actions take.
func (s *stage) workloads() {
	s.Helper()
	for _, manifest := range []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"1","b":"2","c":"3"}}`,
		workload("StatefulSet", "db", `"replicas":1,"serviceName":"db",`), workload("DaemonSet", "agent", ""),
	} {
		obj := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(manifest), &obj.Object); err != nil {
			s.Fatal(err)
		}
		s.create(s.dora, obj)
	}
}

// does does one action by a plan that is approved, looks whether it did what its dry run said and nothing else, and
// takes it back.
func (s *stage) does(as client.Client, d deed) {
	s.Helper()
	before := s.object(d.target, d.name)
	x := s.asked(as, d, nil)
	if dry := x.Status.ValidationResults.DryRun; dry == nil || !dry.Success {
		s.Errorf("dry run: %+v", dry)
	}
	tried := s.tried(x, d)
	if diff := cmp.Diff(wanted(before), wanted(s.object(d.target, d.name))); diff != "" {
		s.Errorf("a dry run changed %s: %s", d.name, diff)
	}
	s.approved(x)
	x = s.until(x.Name, end(x.Status.Plan.Inverse != nil))
	if x.Status.Effect != remediationv1.EffectApplied {
		s.Fatalf("%s: %s", x.Status.Effect, message(x))
	}
	if diff := cmp.Diff(wanted(tried), wanted(s.object(d.target, d.name))); diff != "" {
		s.Errorf("the dry run was of another change: %s", diff)
	}
	if x.Status.Plan.Inverse != nil {
		s.undoes(as, d, x)
	}
}

// end is the phase in which an execution rests that was done.
func end(inverse bool) string {
	if inverse {
		return "rollback_ready"
	}
	return "completed"
}

// undoes takes an action back as its status says: then the fields that it worked on are as they were.
func (s *stage) undoes(as client.Client, d deed, x *remediationv1.KubernetesExecution) {
	s.Helper()
	info := x.Status.RollbackInformation
	back := deed{action: info.RollbackAction, target: d.target, name: d.name}
	b := s.asked(as, back, func(b *remediationv1.KubernetesExecution) {
		b.Spec.Parameters, b.Spec.RollbackOf = info.RollbackParameters, &remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}
	})
	s.approved(b)
	b = s.until(b.Name, "completed")
	is, err := action.ReadOf(d.function(), s.object(d.target, d.name).Object, s.params(d))
	if err != nil {
		s.Fatal(err)
	}
	if is.Hash != x.Status.Before.Hash || b.Status.After == nil {
		s.Errorf("the footprint is not what it was before: %+v", b.Status.After)
	}
	s.until(x.Name, "failed") // rolled_back
}

// asked makes an execution and waits until its plan waits for an approval.
func (s *stage) asked(as client.Client, d deed, change func(*remediationv1.KubernetesExecution)) *remediationv1.KubernetesExecution {
	s.Helper()
	x := &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: d.action, Target: remediationv1.TargetRef{Kind: d.target.Kind, Name: d.name}, FinalizeAfterSeconds: 600,
		},
	}
	if d.parameters != "" {
		if err := json.Unmarshal([]byte(d.parameters), &x.Spec.Parameters); err != nil {
			s.Fatal(err)
		}
	}
	if change != nil {
		change(x)
	}
	s.create(as, x)
	return s.until(x.Name, "waiting_approval")
}

func (s *stage) approved(x *remediationv1.KubernetesExecution) {
	s.Helper()
	s.create(s.olga, approve(x, "ok-"+x.Name))
}

func (s *stage) object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	s.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	key := client.ObjectKey{Namespace: s.namespace, Name: name}
	if kind == nodeKind {
		key.Namespace = ""
	}
	if err := s.admin.Get(s.Context(), key, obj); err != nil {
		s.Fatal(err)
	}
	return obj
}

func (d deed) function() string {
	if d.builtin != "" {
		return d.builtin
	}
	return d.action
}

func (s *stage) params(d deed) action.Params {
	s.Helper()
	given := map[string]apiextensionsv1.JSON{}
	if d.parameters != "" {
		if err := json.Unmarshal([]byte(d.parameters), &given); err != nil {
			s.Fatal(err)
		}
	}
	for _, b := range action.Builtins() {
		if b.Name == d.function() {
			p, err := action.Check(b.Parameters, given)
			if err != nil {
				s.Fatal(err)
			}
			return p
		}
	}
	s.Fatalf("there is no builtin %s", d.function())
	return nil
}

// tried is what the API server would store, by a dry run of the very change that the plan makes.
func (s *stage) tried(x *remediationv1.KubernetesExecution, d deed) *unstructured.Unstructured {
	s.Helper()
	obj := s.object(d.target, d.name)
	change, err := action.Plan(d.function(), obj.Object, s.params(d), x.UID)
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(change.Fields, x.Status.Plan.Changes); diff != "" {
		s.Errorf("the status shows another plan: %s", diff)
	}
	body, err := json.Marshal(change.Patch)
	if err != nil {
		s.Fatal(err)
	}
	if err := s.admin.Patch(s.Context(), obj, client.RawPatch(types.MergePatchType, body), client.DryRunAll); err != nil {
		s.Fatal(err)
	}
	return obj
}

// wanted is what users want of an object, and no status. A controller taints a node that is cordoned.
func wanted(obj *unstructured.Unstructured) map[string]any {
	is := obj.DeepCopy()
	unstructured.RemoveNestedField(is.Object, "spec", "taints")
	return map[string]any{"uid": string(is.GetUID()), "labels": is.GetLabels(), "spec": is.Object["spec"], "data": is.Object["data"]}
}

// deletesAPod deletes one of the pods of a Deployment, which makes another.
func (s *stage) deletesAPod() {
	s.Helper()
	s.deploy("victims", 2)
	var victim *corev1.Pod
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		pods := &corev1.PodList{}
		if err := s.admin.List(s.Context(), pods, client.InNamespace(s.namespace), client.MatchingLabels{"app": "victims"}); err != nil {
			return err
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning {
				victim = p
				return nil
			}
		}
		return fmt.Errorf("none of %d pods runs", len(pods.Items))
	})
	x := s.asked(s.dora, deed{action: "delete_pod", target: pod, name: victim.Name, parameters: `{"gracePeriodSeconds":2}`}, func(x *remediationv1.KubernetesExecution) {
		x.Spec.PostConditions = []remediationv1.Condition{{Name: "target_gone", Required: true, TimeoutSeconds: 60}}
	})
	if dry := x.Status.ValidationResults.DryRun; dry == nil || !dry.Success {
		s.Errorf("dry run: %+v", dry)
	}
	if is := s.object(pod, victim.Name); is.GetUID() != victim.UID || is.GetDeletionTimestamp() != nil {
		s.Errorf("a dry run deleted the pod: %v", is.GetDeletionTimestamp())
	}
	s.approved(x)
	x = s.until(x.Name, "completed")
	if x.Status.Effect != remediationv1.EffectApplied || x.Status.RollbackInformation == nil || x.Status.RollbackInformation.Available {
		s.Errorf("%s, %+v", x.Status.Effect, x.Status.RollbackInformation)
	}
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(victim), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		s.Errorf("the pod is there: %v", err)
	}
}

// drains drains a node on which pods run, and looks who was evicted, and who did it from where.
func (s *stage) drains(node string) {
	s.Helper()
	was := s.object(nodeKind, node)
	d := deed{action: "drain_node", target: nodeKind, name: node, parameters: `{"deleteEmptyDirData":true,"force":true}`}
	x := s.asked(s.admin, d, nil)
	if diff := cmp.Diff(wanted(was), wanted(s.object(nodeKind, node))); diff != "" {
		s.Errorf("a dry run changed the node: %s", diff)
	}
	s.approved(x)
	x = s.until(x.Name, "rollback_ready")
	if left := s.left(node); len(left) > 0 || x.Status.ExecutionResults.Affected < 1 {
		s.Errorf("%d objects were affected, and these pods are left: %v", x.Status.ExecutionResults.Affected, left)
	}
	if is, _, _ := unstructured.NestedBool(s.object(nodeKind, node).Object, "spec", "unschedulable"); !is {
		s.Error("the node is not cordoned")
	}
	own := &corev1.PodList{}
	if err := s.admin.List(s.Context(), own, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)}); err != nil {
		s.Fatal(err)
	}
	if len(own.Items) != 1 || own.Items[0].Spec.NodeName == node || own.Items[0].Status.Phase != corev1.PodSucceeded {
		s.Errorf("the action had pods %+v", own.Items)
	}
	s.undoes(s.admin, d, x)
}

// left are pods on a node that a drain should have evicted.
func (s *stage) left(node string) (names []string) {
	s.Helper()
	pods := &unstructured.UnstructuredList{}
	pods.SetGroupVersionKind(pod.GroupVersion().WithKind("PodList"))
	if err := s.admin.List(s.Context(), pods, client.MatchingFields{"spec.nodeName": node}); err != nil {
		s.Fatal(err)
	}
	var all []map[string]any
	for _, p := range pods.Items {
		all = append(all, p.Object)
	}
	is := action.Depart(all, action.Params{"deleteEmptyDirData": true, "force": true})
	for _, p := range append(is.Evict, is.Await...) {
		names = append(names, p.String())
	}
	return names
}

// workload is a StatefulSet or a DaemonSet whose pods do nothing.
func workload(kind, name, more string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":%q,"metadata":{"name":%q},"spec":{%s"selector":{"matchLabels":{"app":%q}},
		"template":{"metadata":{"labels":{"app":%q}},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"main","image":%q,"imagePullPolicy":"Never"}]}}}}`,
		kind, name, more, name, name, images.Pause)
}
