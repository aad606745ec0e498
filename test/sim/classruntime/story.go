package classruntime

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// story is the life of a class: it is made, one function is edited while the other goes, and it is deleted.
type story struct {
	world   *sim.World
	class   *runtimev1.ClassRuntime
	rollout *rollout
}

func open(w *sim.World) *sim.Play {
	s := &story{world: w, rollout: newRollout(w), class: &runtimev1.ClassRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cart"},
		Spec:       runtimev1.ClassRuntimeSpec{Functions: []runtimev1.Function{function("add", "add:1", 8080), function("total", "total:1", 0)}},
	}}
	return &sim.Play{
		Main:  sim.Ref{GroupVersionKind: classKind, Key: read.Key{Namespace: w.Namespace, Name: "cart"}},
		Build: s.build,
		Steps: []sim.Step{
			{Name: "make a class", Do: s.make, Until: s.available},
			{Name: "edit it", Do: s.edit, Until: s.available},
			{Name: "delete it", Do: s.delete, Until: s.gone},
		},
		Meanwhile: s.rollout.meanwhile, Always: s.always, End: end, Equal: unstamp,
	}
}

func function(key, image string, port int32) runtimev1.Function {
	f := runtimev1.Function{Key: key, Image: image}
	if port > 0 {
		f.Ports = []corev1.ContainerPort{{ContainerPort: port}}
	}
	return f
}

// build builds the controller of the area, as its setup does.
func (s *story) build(c *sim.Cell) {
	waker := &kube.Waker{}
	r := classruntime.NewClass(c.Env(), classruntime.NewLooks(c.Env(), nil, waker.Wake))
	c.Cache(classruntime.Caches()...)
	c.Index(classruntime.Indexes()...)
	c.Add(sim.Controller{Reconciler: r, Kind: classKind, Echo: r.Store.Wrote, Wakes: classruntime.ClassWakes(waker)})
}

func (s *story) make(ctx context.Context) error {
	return s.world.Client.Create(ctx, s.class.DeepCopy())
}

func (s *story) edit(ctx context.Context) error {
	is := s.class.DeepCopy()
	if !s.world.Find(is) {
		return errors.New("the class is gone")
	}
	is.Spec.Functions = []runtimev1.Function{function("add", "add:2", 8080)}
	return s.world.Client.Update(ctx, is)
}

func (s *story) delete(ctx context.Context) error {
	return s.world.Client.Delete(ctx, s.class.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
}

func (s *story) available() error {
	is := s.class.DeepCopy()
	if !s.world.Find(is) {
		return errors.New("the class is gone")
	}
	if is.Status.Phase != class.Available || is.Status.ObservedGeneration != is.Generation {
		return fmt.Errorf("the class is %s: %s", is.Status.Phase, is.Status.WaitingFor)
	}
	return s.truth(is)
}

func (s *story) gone() error {
	if s.world.Find(s.class.DeepCopy()) {
		return errors.New("the class is still there")
	}
	return nil
}

// always: a class that says that it is ready is.
func (s *story) always(change sim.Change) error {
	if change.GroupVersionKind != classKind || change.Is == nil || change.ByUser {
		return nil
	}
	is := &runtimev1.ClassRuntime{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(change.Is.Object, is); err != nil {
		return err
	}
	if !apimeta.IsStatusConditionTrue(is.Status.Conditions, "Ready") {
		return nil
	}
	return s.truth(is)
}

// truth says what is missing of what the spec asks for.
func (s *story) truth(is *runtimev1.ClassRuntime) error {
	for _, f := range is.Spec.Functions {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: is.Namespace, Name: spec.Name(is, f.Key)}}
		if !s.world.Find(d) || d.Spec.Template.Spec.Containers[0].Image != f.Image {
			return fmt.Errorf("the class is said to be ready, and Deployment %s is not as its spec asks for", d.Name)
		}
		if n := s.rollout.running(d); n < 1 { // the others may be on their way: an autoscaler, or a person, has asked for more
			return fmt.Errorf("the class is said to be ready, and Deployment %s has no pod that is", d.Name)
		}
	}
	return nil
}

// end: nothing is left.
func end(found []*unstructured.Unstructured) error {
	for _, obj := range found {
		return fmt.Errorf("%s %s is still there", obj.GetKind(), obj.GetName())
	}
	return nil
}

// unstamp leaves out the hash of what a child was built as: the UID of its owner is in it.
func unstamp(obj *unstructured.Unstructured) {
	annotations := obj.GetAnnotations()
	delete(annotations, string(spec.Stamp))
	obj.SetAnnotations(annotations)
}
