package classruntime

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Caches are what the area caches: its own kind, of children and pods those that bear the name of a class, and all
// autoscalers and budgets. Of pods and ReplicaSets nothing is kept that no reader looks at: the variables of a function may be confidential.
func Caches() []kube.Cached {
	ours := kube.HasLabel(runtimev1.ClassLabel)
	return []kube.Cached{
		{Of: &runtimev1.ClassRuntime{}},
		{Of: &appsv1.Deployment{}, Labels: ours}, {Of: &corev1.Service{}, Labels: ours},
		// Those of others may scale what is ours, and select its pods.
		{Of: &autoscalingv2.HorizontalPodAutoscaler{}, Strip: stripAutoscaler}, {Of: &policyv1.PodDisruptionBudget{}, Strip: stripBudget},
		{Of: &appsv1.ReplicaSet{}, Labels: ours, Strip: stripReplicaSet}, {Of: &corev1.Pod{}, Labels: ours, Strip: stripPod},
	}
}

// stripAutoscaler leaves of one that is not ours what it scales, and whether it does.
func stripAutoscaler(obj client.Object) {
	h, is := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !is {
		return
	}
	h.Status = autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: h.Status.Conditions}
	if h.Labels[runtimev1.ClassLabel] != "" {
		return
	}
	h.Labels, h.Annotations = nil, nil
	h.Spec.Metrics, h.Spec.Behavior = nil, nil
}

// stripBudget leaves of one that is not ours which pods it selects.
func stripBudget(obj client.Object) {
	b, is := obj.(*policyv1.PodDisruptionBudget)
	if !is || b.Labels[runtimev1.ClassLabel] != "" {
		return
	}
	b.Labels, b.Annotations, b.Status = nil, nil, policyv1.PodDisruptionBudgetStatus{}
}

// stripReplicaSet leaves of one what it is called and who owns it.
func stripReplicaSet(obj client.Object) {
	if r, is := obj.(*appsv1.ReplicaSet); is {
		r.Annotations, r.Spec, r.Status = nil, appsv1.ReplicaSetSpec{}, appsv1.ReplicaSetStatus{}
	}
}

// stripPod leaves of the spec what words about a pod need: its node, and images and limits of its containers.
func stripPod(obj client.Object) {
	p, is := obj.(*corev1.Pod)
	if !is {
		return
	}
	p.Annotations, p.Spec = nil, corev1.PodSpec{
		NodeName: p.Spec.NodeName, InitContainers: stripContainers(p.Spec.InitContainers), Containers: stripContainers(p.Spec.Containers),
	}
}

func stripContainers(from []corev1.Container) (kept []corev1.Container) {
	for _, c := range from {
		kept = append(kept, corev1.Container{Name: c.Name, Image: c.Image, Resources: corev1.ResourceRequirements{Limits: c.Resources.Limits}})
	}
	return kept
}
