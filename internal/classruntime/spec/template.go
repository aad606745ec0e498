package spec

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// Template describes one way in which functions are deployed. Another way is another entry of templates.
type Template struct {
	Name runtimev1.Template
	// shape makes of the Deployment that the spec describes what the template asks for. It must not touch the pod
	// template where others do not: a switch between templates would replace every pod.
	shape func(*appsv1.Deployment)
	// most is how many replicas a function may have at all; 0 is as many as it asks for.
	most int32
}

var templates = []Template{
	{Name: runtimev1.TemplateDeployment, shape: func(*appsv1.Deployment) {}},
	{Name: runtimev1.TemplateDev, shape: shapeForTrying, most: 1},
}

// TemplateOf is the template of a class: what is not said, or auto, is a Deployment.
func TemplateOf(c *runtimev1.ClassRuntime) Template {
	if i := slices.IndexFunc(templates, func(t Template) bool { return t.Name == c.Spec.Template }); i >= 0 {
		return templates[i]
	}
	return templates[0]
}

// shapeForTrying runs one replica at most, which is stopped before the next starts: no second copy fits where somebody
// tries things out.
//
// NOTE: not Recreate: the API server defaults rollingUpdate, and then refuses it beside Recreate, so that no class could
// be switched to it.
func shapeForTrying(d *appsv1.Deployment) {
	if d.Spec.Strategy.Type == "" {
		d.Spec.Strategy = appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: ptr.To(intstr.FromInt32(0)), MaxUnavailable: ptr.To(intstr.FromInt32(1))},
		}
	}
}
