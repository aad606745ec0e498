package classruntime

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// How many replicas each owner wants, one after another. The number falls once, when a person asks for that of the spec.
const (
	ofSpec   = 1
	ofEngine = 2
	ofPerson = 3
)

// handover is how the replicas of a function change hands: from the spec to an autoscaler, which is then removed, to a person, and back.
type handover struct {
	story
	asks bool // the person wants the number of the spec again
}

func openHandover(w *sim.World) *sim.Play {
	f := function("add", "add:1", 0)
	f.Replicas = ptr.To(int32(ofSpec))
	s := &handover{story: story{world: w, rollout: newRollout(w), class: &runtimev1.ClassRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cart"},
		Spec:       runtimev1.ClassRuntimeSpec{Functions: []runtimev1.Function{f}},
	}}}
	scaling := &runtimev1.Scaling{Engine: runtimev1.EngineHPA, Max: 5}
	return &sim.Play{
		Main:  sim.Ref{GroupVersionKind: classKind, Key: read.Key{Namespace: w.Namespace, Name: "cart"}},
		Build: s.build,
		Steps: []sim.Step{
			{Name: "make a class", Do: s.make, Until: s.has("Spec", ofSpec), Calm: true},
			{Name: "let an autoscaler scale it", Do: s.spec("add:1", scaling), Until: s.has("HorizontalPodAutoscaler cart-add", ofEngine)},
			{Name: "edit it meanwhile", Do: s.spec("add:2", scaling), Until: s.has("HorizontalPodAutoscaler cart-add", ofEngine)},
			{Name: "remove the autoscaler", Do: s.spec("add:2", nil), Until: s.has("Kept", ofEngine)},
			{Name: "scale it by hand", Do: s.byHand, Until: s.has("kubectl", ofPerson)},
			{Name: "ask for the number of the spec", Do: s.ask, Until: s.has("Spec", ofSpec)},
		},
		Meanwhile: s.meanwhile, Always: s.always, End: s.end, Equal: plain,
	}
}

// spec edits the class.
func (s *handover) spec(image string, scaling *runtimev1.Scaling) func(context.Context) error {
	return func(ctx context.Context) error {
		is, err := s.is()
		if err != nil {
			return err
		}
		is.Spec.Functions[0].Image, is.Spec.Functions[0].Scaling = image, scaling
		return s.world.Client.Update(ctx, is)
	}
}

func (s *handover) is() (*runtimev1.ClassRuntime, error) {
	is := s.class.DeepCopy()
	if !s.world.Find(is) {
		return nil, errors.New("the class is gone")
	}
	return is, nil
}

func (s *handover) byHand(ctx context.Context) error { return s.scale(ctx, "kubectl", ofPerson) }

func (s *handover) ask(context.Context) error {
	s.asks = true
	return nil
}

// has says that the class is available, and that the status says whose the replicas are.
func (s *handover) has(owner string, n int32) func() error {
	return func() error {
		if err := s.available(); err != nil {
			return err
		}
		is, err := s.is()
		if err != nil {
			return err
		}
		if r := is.Status.Functions[0].Replicas; r.Owner != owner || r.Desired != n {
			return fmt.Errorf("%d replicas are of %q, want %d of %q", r.Desired, r.Owner, n, owner)
		}
		return nil
	}
}

// meanwhile plays an autoscaler, a person who asks until it is granted, and what makes pods.
func (s *handover) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	if acts, err := s.autoscale(ctx); acts || err != nil {
		return acts, next, err
	}
	asked, later, err := s.askAgain(ctx)
	if asked || err != nil {
		return asked, next, err
	}
	changed, next, err = s.rollout.meanwhile(ctx)
	if !changed && !later.IsZero() && (next.IsZero() || later.Before(next)) {
		next = later
	}
	return changed, next, err
}

func (s *handover) deployment() *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "cart-add"}}
	if !s.world.Find(d) {
		return nil
	}
	return d
}

func (s *handover) autoscale(ctx context.Context) (acts bool, err error) {
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "cart-add"}}
	if d := s.deployment(); d == nil || *d.Spec.Replicas >= ofEngine || !s.world.Find(h) {
		return false, nil
	}
	return true, s.scale(ctx, "kube-controller-manager", ofEngine)
}

// scale writes through /scale, and lets caches see it.
func (s *handover) scale(ctx context.Context, manager string, n int32) error {
	d := s.deployment()
	if d == nil {
		return errors.New("the Deployment is gone")
	}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
	if err := s.world.Client.SubResource("scale").Patch(ctx, d, patch, client.FieldOwner(manager), client.WithSubResourceBody(&autoscalingv1.Scale{})); err != nil {
		return err
	}
	_, err := s.world.Sync(ctx, deploymentKind)
	return err
}

// askAgain asks as soon as the status says since when the number is overridden: a wish of before does not count, and a status that
// was lost says so anew.
func (s *handover) askAgain(ctx context.Context) (asked bool, later time.Time, err error) {
	is, err := s.is()
	if err != nil {
		return false, later, client.IgnoreNotFound(err)
	}
	if !s.asks || len(is.Status.Functions) == 0 {
		return false, later, nil
	}
	since := is.Status.Functions[0].Replicas.OverriddenSince
	if at, err := time.Parse(time.RFC3339, is.Annotations[runtimev1.RetakeAnnotation]); since == nil || err == nil && at.After(since.Time) {
		return false, later, nil
	}
	if earliest := since.Add(time.Second); s.world.Now().Before(earliest) {
		return false, earliest, nil
	}
	is.Annotations = map[string]string{runtimev1.RetakeAnnotation: s.world.Now().UTC().Format(time.RFC3339)}
	return true, later, s.world.Client.Update(ctx, is)
}

// always: a class that says that it is ready is, and the number of replicas does not fall unless a person has asked.
func (s *handover) always(change sim.Change) error {
	if change.GroupVersionKind == deploymentKind && !change.ByUser && change.Was != nil && change.Is != nil {
		was, _, _ := unstructured.NestedInt64(change.Was.Object, "spec", "replicas")
		is, _, _ := unstructured.NestedInt64(change.Is.Object, "spec", "replicas")
		if is < was && (!s.asks || is != ofSpec) {
			return fmt.Errorf("the replicas fell from %d to %d", was, is)
		}
	}
	return s.story.always(change)
}

// end: the class has the number of its spec, and no autoscaler.
func (s *handover) end(found []*unstructured.Unstructured) error {
	for _, obj := range found {
		n, is, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
		switch {
		case obj.GetKind() == "HorizontalPodAutoscaler":
			return errors.New("the autoscaler is still there")
		case obj.GetKind() == "Deployment" && is && n != ofSpec:
			return fmt.Errorf("%d replicas", n)
		}
	}
	return nil
}

// plain leaves out the time at which a person asked, and the hash of what a child was built as.
func plain(obj *unstructured.Unstructured) {
	annotations := obj.GetAnnotations()
	delete(annotations, runtimev1.RetakeAnnotation)
	obj.SetAnnotations(annotations)
	unstamp(obj)
}
