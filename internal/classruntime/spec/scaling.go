package spec

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// EngineOf is what scales a function: an engine, or EngineNone.
func EngineOf(c *runtimev1.ClassRuntime, f *runtimev1.Function) runtimev1.Engine {
	switch s := f.Scaling; {
	case s == nil, s.Engine == runtimev1.EngineNone, TemplateOf(c).most > 0:
		return runtimev1.EngineNone
	case s.Max <= least(f):
		return runtimev1.EngineNone // there is nothing to scale
	}
	return runtimev1.EngineHPA
}

// least is the lower limit of an engine.
func least(f *runtimev1.Function) int32 {
	if f.Scaling.Min != nil {
		return *f.Scaling.Min
	}
	return max(1, ptr.Deref(f.Replicas, 1))
}

// floor is the least number of replicas that the spec asks for.
func floor(c *runtimev1.ClassRuntime, f *runtimev1.Function) int32 {
	if EngineOf(c, f) == runtimev1.EngineNone {
		return begins(c, f)
	}
	return least(f)
}

// begins is the number of replicas with which a function begins, and which it has while no other sets it.
func begins(c *runtimev1.ClassRuntime, f *runtimev1.Function) int32 {
	if EngineOf(c, f) != runtimev1.EngineNone {
		return max(says(c, f), least(f))
	}
	return says(c, f)
}

// says is the number of replicas that the spec says itself, whatever the limits of an engine are. Limits that leave one number are
// no limits, but say it: no engine is made that would keep it.
func says(c *runtimev1.ClassRuntime, f *runtimev1.Function) int32 {
	n := ptr.Deref(f.Replicas, 1)
	if s := f.Scaling; s != nil && s.Engine != runtimev1.EngineNone && s.Max <= least(f) {
		n = max(n, least(f))
	}
	if most := TemplateOf(c).most; most > 0 {
		n = min(n, most)
	}
	return n
}

// autoscaler lets Kubernetes scale the Deployment; nil where the spec asks for no such engine.
func autoscaler(c *runtimev1.ClassRuntime, f *runtimev1.Function) *autoscalingv2.HorizontalPodAutoscaler {
	if EngineOf(c, f) != runtimev1.EngineHPA {
		return nil
	}
	s := f.Scaling.DeepCopy()
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: owned(c, f.Key),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: KindDeployment, Name: Name(c, f.Key)},
			MinReplicas:    ptr.To(least(f)), MaxReplicas: s.Max, Metrics: s.Metrics, Behavior: s.Behavior,
		},
	}
}

// TargetOf is the Deployment that an autoscaler scales.
func TargetOf(h *autoscalingv2.HorizontalPodAutoscaler) (name string, is bool) {
	target := h.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	return target.Name, err == nil && gv.Group == appsv1.GroupName && target.Kind == KindDeployment
}

// budget lets one pod at a time be evicted, where there may be several. A single pod has none: a budget that spares it
// would block every drain of its node, for ever. A pod that is not ready may always go.
func budget(c *runtimev1.ClassRuntime, f *runtimev1.Function) *policyv1.PodDisruptionBudget {
	most := begins(c, f)
	if EngineOf(c, f) != runtimev1.EngineNone {
		most = f.Scaling.Max
	}
	if most < 2 {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: owned(c, f.Key),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             ptr.To(intstr.FromInt32(1)),
			Selector:                   &metav1.LabelSelector{MatchLabels: selected(c, f.Key)},
			UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow),
		},
	}
}
