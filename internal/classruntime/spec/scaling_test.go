package spec

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// scaled is a function that an autoscaler scales.
func scaled() runtimev1.Function {
	f := short()
	f.Scaling = &runtimev1.Scaling{
		Engine: runtimev1.EngineAuto, Max: 6,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To(int32(70))},
		}}},
		Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To(int32(60))}},
	}
	return f
}

func TestScaling(t *testing.T) {
	n := func(n int32) *int32 { return &n }
	for what, c := range map[string]struct {
		replicas      *int32
		scaling       *runtimev1.Scaling
		template      runtimev1.Template
		begins, floor int32
		low, high     int32 // of the autoscaler; 0 is none
		budget        bool
	}{
		"nothing is said":           {begins: 1, floor: 1},
		"two":                       {replicas: n(2), begins: 2, floor: 2, budget: true},
		"none":                      {replicas: n(0)},
		"two, to try things out":    {replicas: n(2), template: runtimev1.TemplateDev, begins: 1, floor: 1},
		"from what it starts with":  {replicas: n(2), scaling: &runtimev1.Scaling{Max: 5}, begins: 2, floor: 2, low: 2, high: 5, budget: true},
		"from less":                 {replicas: n(2), scaling: &runtimev1.Scaling{Min: n(1), Max: 5}, begins: 2, floor: 1, low: 1, high: 5, budget: true},
		"from more":                 {replicas: n(2), scaling: &runtimev1.Scaling{Min: n(3), Max: 5}, begins: 3, floor: 3, low: 3, high: 5, budget: true},
		"nothing to scale":          {replicas: n(5), scaling: &runtimev1.Scaling{Max: 5}, begins: 5, floor: 5, budget: true},
		"limits of one number":      {scaling: &runtimev1.Scaling{Min: n(3), Max: 3}, begins: 3, floor: 3, budget: true},
		"and a lower one":           {replicas: n(2), scaling: &runtimev1.Scaling{Min: n(3), Max: 3}, begins: 3, floor: 3, budget: true},
		"and to try things out":     {scaling: &runtimev1.Scaling{Min: n(3), Max: 3}, template: runtimev1.TemplateDev, begins: 1, floor: 1},
		"and by others":             {replicas: n(2), scaling: &runtimev1.Scaling{Engine: runtimev1.EngineNone, Min: n(3), Max: 3}, begins: 2, floor: 2, budget: true},
		"by others":                 {replicas: n(2), scaling: &runtimev1.Scaling{Engine: runtimev1.EngineNone, Max: 5}, begins: 2, floor: 2, budget: true},
		"scaled, to try things out": {replicas: n(2), scaling: &runtimev1.Scaling{Max: 5}, template: runtimev1.TemplateDev, begins: 1, floor: 1},
		"one, and up to one":        {replicas: n(1), scaling: &runtimev1.Scaling{Max: 1}, begins: 1, floor: 1},
		"one, which may become two": {replicas: n(1), scaling: &runtimev1.Scaling{Max: 2}, begins: 1, floor: 1, low: 1, high: 2, budget: true},
	} {
		f := short()
		f.Replicas, f.Scaling = c.replicas, c.scaling
		of := class(f)
		of.Spec.Template = c.template
		is := Functions(of)[0]
		if got := *is.Deployment.Spec.Replicas; got != c.begins || is.Floor != c.floor {
			t.Errorf("%s: begins with %d, and the floor is %d", what, got, is.Floor)
		}
		if says := is.Replicas; c.high == 0 && says != c.begins || c.high > 0 && says != *c.replicas {
			t.Errorf("%s: the spec itself says %d", what, says)
		}
		if a := is.Autoscaler; (a != nil) != (c.high > 0) || a != nil && (*a.Spec.MinReplicas != c.low || a.Spec.MaxReplicas != c.high || a.Spec.ScaleTargetRef.Name != is.Name) {
			t.Errorf("%s: the autoscaler is %+v", what, a)
		}
		if b := is.Budget; (b != nil) != c.budget || b != nil && b.Spec.MaxUnavailable.IntValue() != 1 {
			t.Errorf("%s: the budget is %+v", what, b)
		}
		if engine := is.Deployment.Annotations[runtimev1.EngineAnnotation]; (engine != "") != (c.scaling != nil) || (engine == "hpa") != (c.high > 0) {
			t.Errorf("%s: the engine on record is %q", what, engine)
		}
	}
}
