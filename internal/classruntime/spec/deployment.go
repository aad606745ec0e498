package spec

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// deployment runs the pods of a function, by the template of the class.
func deployment(c *runtimev1.ClassRuntime, f *runtimev1.Function, pod *corev1.PodTemplateSpec) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: owned(c, f.Key),
		Spec: appsv1.DeploymentSpec{
			Replicas:                ptr.To(begins(c, f)),
			Selector:                &metav1.LabelSelector{MatchLabels: selected(c, f.Key)},
			Template:                *pod,
			MinReadySeconds:         f.MinReadySeconds,
			ProgressDeadlineSeconds: ptr.To(deadline(c)),
		},
	}
	if f.Strategy != nil {
		d.Spec.Strategy = *f.Strategy.DeepCopy()
	}
	t := TemplateOf(c)
	d.Annotations[runtimev1.TemplateAnnotation] = string(t.Name)
	if f.Scaling != nil {
		d.Annotations[runtimev1.EngineAnnotation] = string(EngineOf(c, f))
	}
	t.shape(d)
	return d
}

const defaultDeadline = 600

// deadline is how many seconds a function may make no progress.
func deadline(c *runtimev1.ClassRuntime) int32 {
	if s := c.Spec.ProgressDeadlineSeconds; s > 0 {
		return s
	}
	return defaultDeadline
}
