package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// ByTarget is the index of autoscalers by the Deployment that they scale, whoever owns them. What has written a number does not
// tell who governs: an autoscaler that is gone leaves its mark, and one that is new has left none.
const ByTarget = "target"

// engines are the autoscalers that have a Deployment as their target, by name.
func (o Class) engines(ctx context.Context, c *runtimev1.ClassRuntime, deployment string) (engines []class.Engine, err error) {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := o.Cached.List(ctx, &list, read.InNamespace(c.Namespace), read.Fields{ByTarget: deployment}); err != nil {
		return nil, fmt.Errorf("list autoscalers: %w", err)
	}
	for i := range list.Items {
		h := &list.Items[i]
		if h.DeletionTimestamp != nil {
			continue
		}
		engines = append(engines, class.Engine{
			Name: spec.KindAutoscaler + " " + h.Name, Ours: child.OwnedBy(h, c.UID), Min: ptr.Deref(h.Spec.MinReplicas, 1), Blind: blindness(h),
		})
	}
	slices.SortFunc(engines, func(a, b class.Engine) int { return strings.Compare(a.Name, b.Name) })
	return engines, nil
}

// blindness is why an autoscaler does not scale, in its own words.
func blindness(h *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, c := range h.Status.Conditions {
		if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionFalse {
			return steady(c.Message)
		}
	}
	return ""
}

// dependsOnOwners says that something is decided by who owns the number. A lane that rests has nothing to ask: another number makes it
// move, and then it asks. Below what the spec asks for it may be a person's, whatever the lane does.
func dependsOnOwners(c *runtimev1.ClassRuntime, key string, f ownership.Field) bool {
	if f.Engine != "" && f.Live > 0 {
		return false
	}
	switch phase, enforced := class.LanePhase(c, key); {
	case enforced && phase == enforce.Steady:
		return f.Live < f.Want || f.Live == 0
	case enforced && phase != "":
		return true
	}
	return f.Live != f.Want
}

// replicas says whose the number of a Deployment is. Where it is what the spec asks for, or an autoscaler sets it, nothing depends on
// the owners of the field, which caches do not hold; else they are read live.
func (o Class) replicas(ctx context.Context, c *runtimev1.ClassRuntime, f spec.Function, d *appsv1.Deployment, engines []class.Engine) (*ownership.Field, error) {
	want := ptr.Deref(f.Deployment.Spec.Replicas, 1)
	field := ownership.Field{Live: ptr.Deref(d.Spec.Replicas, 1), Want: want, Own: &f.Replicas, Asked: ownership.AskedOf(d)}
	if len(engines) > 0 {
		field.Engine = engines[0].Name
	}
	if !dependsOnOwners(c, f.Key, field) {
		return &field, nil
	}
	engine := field.Engine
	live := &appsv1.Deployment{}
	state, err := read.Find(ctx, o.Live, read.Key{Namespace: d.Namespace, Name: d.Name}, live, read.Is[*appsv1.Deployment](d.UID))
	if err != nil || state != presence.Here {
		return nil, err // the next look finds it gone
	}
	if field, err = ownership.Read(live); err != nil {
		return nil, fmt.Errorf("read the owners of replicas: %w", err)
	}
	field.Want, field.Own, field.Engine = want, &f.Replicas, engine
	return &field, nil
}
