package spec

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

// Stamp is the annotation that bears the hash of what a child was built as. A child that bears another is
// to be applied again.
const Stamp child.Stamp = "runtime.statecraft.dev/applied"

// Function is what one function of a class is made of.
type Function struct {
	Key        string
	Name       string
	Deployment *appsv1.Deployment
	Service    *corev1.Service                        // nil without ports
	Autoscaler *autoscalingv2.HorizontalPodAutoscaler // nil unless the function is scaled by one of ours
	Budget     *policyv1.PodDisruptionBudget          // nil where no pod can be spared
	Engine     runtimev1.Engine                       // what scales it
	// Replicas is the number that the spec itself says, which the limit of an engine may raise for the Deployment.
	Replicas int32
	// Floor is the least number of replicas that the spec asks for: what an engine adds may go again.
	Floor int32
	Needs Needs
	// Invalid says in a sentence why the function cannot be built; it has no children then.
	Invalid string
}

// Children are the objects of the function, in the order in which they are applied.
func (f Function) Children() (all []child.Object) {
	if f.Deployment != nil {
		all = append(all, f.Deployment)
	}
	if f.Service != nil {
		all = append(all, f.Service)
	}
	if f.Autoscaler != nil {
		all = append(all, f.Autoscaler)
	}
	if f.Budget != nil {
		all = append(all, f.Budget)
	}
	return all
}

// Functions builds those of a class, sorted by key: in which order they are listed means nothing. One that cannot be
// built does not keep the others from being built.
func Functions(c *runtimev1.ClassRuntime) []Function {
	all := make([]Function, 0, len(c.Spec.Functions))
	for i := range c.Spec.Functions {
		all = append(all, build(c, &c.Spec.Functions[i]))
	}
	slices.SortFunc(all, func(a, b Function) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

func build(c *runtimev1.ClassRuntime, f *runtimev1.Function) Function {
	out := Function{Key: f.Key, Name: Name(c, f.Key), Needs: NeedsOf(c, f)}
	template, invalid := podTemplate(c, f)
	if invalid != "" {
		out.Invalid = invalid
		return out
	}
	out.Deployment = deployment(c, f, template)
	out.Service = service(c, f.Key, functionContainer(&template.Spec).Ports)
	out.Autoscaler, out.Budget = autoscaler(c, f), budget(c, f)
	out.Engine, out.Replicas, out.Floor = EngineOf(c, f), says(c, f), floor(c, f)
	for _, obj := range out.Children() {
		Stamp.Put(obj, obj)
	}
	return out
}
