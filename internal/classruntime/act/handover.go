package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// engines are the autoscalers of a namespace, by the Deployment that they scale: as they are while the effect is performed, and
// not as the cache shows them.
type engines func() (map[string]string, error)

// listEngines lists them once for all children of an effect, and not at all if none needs it.
func (a Class) listEngines(ctx context.Context, c *runtimev1.ClassRuntime) engines {
	return sync.OnceValues(func() (map[string]string, error) {
		var list autoscalingv2.HorizontalPodAutoscalerList
		if err := a.Live.List(ctx, &list, read.InNamespace(c.Namespace)); err != nil {
			return nil, fmt.Errorf("list autoscalers: %w", err)
		}
		by := map[string]string{}
		for i := range list.Items {
			if target, is := spec.TargetOf(&list.Items[i]); is && list.Items[i].DeletionTimestamp == nil {
				by[target] = spec.KindAutoscaler + " " + list.Items[i].Name
			}
		}
		return by, nil
	})
}

// handover applies a Deployment, whose replicas may change hands by that. Each request is for the version whose field owners
// were read, and each is decided upon anew: a process that ends in between leaves two owners, and the number as it is.
type handover struct {
	Class
	owner   *runtimev1.ClassRuntime
	want    *appsv1.Deployment
	says    int32 // the replicas that the spec says itself, whatever the limits of an autoscaler are
	target  class.Target
	engines engines
}

// looks bounds how often, and how soon, a handover looks again because others wrote in between: a rollout that begins is several
// writes of its status within a moment.
var looks = wait.Backoff{Steps: 8, Duration: 5 * time.Millisecond, Factor: 2, Jitter: 0.1}

func (h handover) perform(ctx context.Context) error {
	applied, last := false, error(nil)
	err := wait.ExponentialBackoffWithContext(ctx, looks, func(ctx context.Context) (done bool, err error) {
		live, err := h.look(ctx)
		if err != nil {
			return false, err
		}
		if live == nil {
			ownership.PutAsked(h.want, &h.says)
			return true, h.Writer.Make(ctx, h.want)
		}
		done, err = h.step(ctx, live, &applied)
		if fsm.ClassOf(err) == fsm.Changed {
			last, err = err, nil
		}
		return done, err
	})
	if wait.Interrupted(err) && last != nil {
		return last
	}
	return err
}

// look reads the Deployment; nil is that its name is free.
func (h handover) look(ctx context.Context) (*appsv1.Deployment, error) {
	live := &appsv1.Deployment{}
	state, err := read.Find(ctx, h.Live, client.ObjectKeyFromObject(h.want), live, func(d *appsv1.Deployment) bool { return child.OwnedBy(d, h.owner.UID) })
	switch {
	case err != nil:
		return nil, kube.Classify(err)
	case state == presence.Other:
		return nil, kube.Occupied(class.KindDeployment, live, h.want)
	case state == presence.Gone && h.target.UID == "":
		return nil, nil
	case state == presence.Gone, h.target.UID != "" && string(live.UID) != h.target.UID:
		return nil, &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: it was deleted, or made anew", h.target)}
	case live.DeletionTimestamp != nil:
		return nil, kube.Occupied(class.KindDeployment, live, h.want)
	}
	return live, nil
}

// step sends the next request. Who applies a number goes first; who leaves it out goes second.
func (h handover) step(ctx context.Context, live *appsv1.Deployment, applied *bool) (done bool, err error) {
	field, err := h.field(live)
	if err != nil {
		return true, err
	}
	answer, seen := ownership.Decide(field), kube.SeenOf(live)
	due := field.LaneActs(answer)
	if due && (*applied || answer.Spec.Act == ownership.Omit) {
		if err := h.sendLane(ctx, answer.Lane, seen); err != nil {
			return false, err
		}
		return *applied, nil
	}
	if *applied {
		return true, nil
	}
	if err := h.sendSpec(ctx, h.spec(field, answer), answer.Spec, seen); err != nil {
		return false, err
	}
	*applied = true
	return !due, nil
}

// field is whose the replicas are.
func (h handover) field(live *appsv1.Deployment) (ownership.Field, error) {
	field, err := ownership.Read(live)
	if err != nil {
		return field, fmt.Errorf("read the owners of replicas: %w", err)
	}
	by, err := h.engines()
	if err != nil {
		return field, kube.Classify(err)
	}
	field.Want, field.Own, field.Retake, field.Engine = *h.want.Spec.Replicas, &h.says, h.target.Retake, by[h.want.Name]
	if least := h.target.Lane; least != nil { // what is seen now counts: the lane may have set another number since
		n := max(field.Live, *least)
		field.Lane = &n
	}
	return field, nil
}

// sendSpec applies the spec. To take the replicas over must not take other fields as well: the request is tried without force
// first, and the answer names all that it would take.
func (h handover) sendSpec(ctx context.Context, obj *appsv1.Deployment, s ownership.Share, seen kube.Seen) error {
	err := h.Writer.ApplyTo(ctx, obj, seen)
	conflict := (*kube.Conflict)(nil)
	if s.Act == ownership.TakeOver && errors.As(err, &conflict) && isReplicasAlone(conflict) {
		return h.Writer.TakeOver(ctx, obj, seen)
	}
	return err
}

// isReplicasAlone says that no other field is another controller's.
func isReplicasAlone(c *kube.Conflict) bool {
	return !slices.ContainsFunc(c.Fields, func(f kube.ConflictField) bool {
		return f.Field != ownership.Path && !child.HandTool(f.Manager)
	})
}

// sendLane applies the number of a lane, which names no other field.
func (h handover) sendLane(ctx context.Context, s ownership.Share, seen kube.Seen) error {
	if s.Act == ownership.TakeOver {
		return h.Lane.TakeOver(ctx, h.lane(s), seen)
	}
	return h.Lane.ApplyTo(ctx, h.lane(s), seen)
}

// spec is the Deployment as its spec asks for it, with the replicas that are the spec's to set.
func (h handover) spec(field ownership.Field, answer ownership.Answer) *appsv1.Deployment {
	d := h.want.DeepCopy()
	d.Spec.Replicas = nil
	if answer.Spec.Act != ownership.Omit {
		d.Spec.Replicas = &answer.Spec.Value
	}
	ownership.PutAsked(d, field.Asks(answer))
	return d
}

// lane is the number alone: an apply owns what it names, and nothing else. Without a number it gives the field up.
func (h handover) lane(s ownership.Share) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(class.KindDeployment))
	u.SetNamespace(h.want.Namespace)
	u.SetName(h.want.Name)
	if s.Act != ownership.Omit {
		u.Object["spec"] = map[string]any{"replicas": int64(s.Value)}
	}
	return u
}
