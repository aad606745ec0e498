package classruntime

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/observe"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// ClassWakes are what wakes a class; telemetry tells of looks that have changed.
func ClassWakes(telemetry *kube.Waker) []kube.Wake {
	owner := runtimev1.GroupVersion.WithKind("ClassRuntime")
	return []kube.Wake{
		{Name: "telemetry", Waker: telemetry},
		kube.Child(&appsv1.Deployment{}, owner), kube.Child(&corev1.Service{}, owner),
		kube.Child(&autoscalingv2.HorizontalPodAutoscaler{}, owner), kube.Child(&policyv1.PodDisruptionBudget{}, owner),
		{Name: "others", Of: &autoscalingv2.HorizontalPodAutoscaler{}, Find: scaled},
		{Name: "others", Of: &policyv1.PodDisruptionBudget{}, Find: selected},
		{Name: "pods", Of: &corev1.Pod{}, Find: named},
		{Name: "pods", Of: &appsv1.ReplicaSet{}, Find: named}, // pods count by it, and may be seen first
	}
}

// named is the class whose name an object bears. Whether it is really its own is for the observer to find out.
func named(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	name := obj.GetLabels()[runtimev1.ClassLabel]
	if name == "" {
		return nil
	}
	return []read.Key{{Namespace: obj.GetNamespace(), Name: name}}
}

// scaled is the class whose Deployment an autoscaler scales, whoever owns that one.
func scaled(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
	h, is := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !is {
		return nil
	}
	target, is := spec.TargetOf(h)
	d := &appsv1.Deployment{}
	if !is || cached.Get(ctx, read.Key{Namespace: h.Namespace, Name: target}, d) != nil {
		return nil // not there yet: the class looks when it has made it
	}
	return named(ctx, cached, d)
}

// selected are the classes with pods that a budget selects, of whatever owner.
func selected(ctx context.Context, cached read.Reader, obj client.Object) (keys []read.Key) {
	budget, is := obj.(*policyv1.PodDisruptionBudget)
	if !is {
		return nil
	}
	var list appsv1.DeploymentList
	if cached.List(ctx, &list, read.InNamespace(budget.Namespace), read.Fields{byOurs: ours}) != nil {
		return nil // the cache has not synced: every class is looked at when it has
	}
	for i := range list.Items {
		if d := &list.Items[i]; observe.Selects(budget, d.Spec.Template.Labels) {
			keys = append(keys, named(ctx, cached, d)...)
		}
	}
	return keys
}

// byOurs is the index of Deployments that are in the cache at all, so that those of one namespace are found.
const (
	byOurs = "ours"
	ours   = "yes"
)

// Indexes are those by which the observer finds children and pods.
func Indexes() (all []kube.Index) {
	for _, of := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &autoscalingv2.HorizontalPodAutoscaler{}, &policyv1.PodDisruptionBudget{}, &appsv1.ReplicaSet{}, &corev1.Pod{},
	} {
		all = append(all, kube.Index{Of: of, Name: observe.ByClass, Values: func(obj client.Object) []string {
			if name := obj.GetLabels()[runtimev1.ClassLabel]; name != "" {
				return []string{name}
			}
			return nil
		}})
	}
	all = append(all, kube.Index{Of: &appsv1.Deployment{}, Name: byOurs, Values: func(client.Object) []string { return []string{ours} }})
	return append(all, kube.Index{Of: &autoscalingv2.HorizontalPodAutoscaler{}, Name: observe.ByTarget, Values: func(obj client.Object) []string {
		if h, is := obj.(*autoscalingv2.HorizontalPodAutoscaler); is {
			if name, is := spec.TargetOf(h); is {
				return []string{name}
			}
		}
		return nil
	}})
}
