package act

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// scale sets the replicas of a Deployment as a lane decided. It is one request, for the version whose field owners were read: the
// spec loses the field by it, so that nothing has to be given up, and the number does not fall in between.
func (a Class) scale(ctx context.Context, c *runtimev1.ClassRuntime, e class.Scale) error {
	want := &appsv1.Deployment{}
	for _, f := range spec.Functions(c) {
		if f.Key == e.Function && f.Deployment != nil {
			want = f.Deployment
		}
	}
	if want.Name != e.Name {
		return hasChanged(e, "the spec does not ask for it any more")
	}
	h := handover{Class: a, owner: c, want: want, target: class.Target{Function: e.Function, Ref: e.Ref, Retake: e.Retake}, engines: a.listEngines(ctx, c)}
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, looks, func(ctx context.Context) (done bool, err error) {
		last = h.scale(ctx, e)
		if fsm.ClassOf(last) == fsm.Changed && !errors.Is(last, errDecidedBefore) {
			return false, nil // a status was written meanwhile
		}
		return true, last
	})
	if wait.Interrupted(err) && last != nil {
		return last
	}
	return contested(e, kube.Classify(err))
}

// scale looks, and sends one request.
func (h handover) scale(ctx context.Context, e class.Scale) error {
	live, err := h.look(ctx)
	if err != nil {
		return err
	}
	if live == nil {
		return hasChanged(e, "it is gone")
	}
	field, err := h.field(live)
	switch {
	case err != nil:
		return err
	case field.Live == e.To:
		return nil // an earlier try has set it, or another has
	case field.Live != e.From:
		return hasChanged(e, fmt.Sprintf("it has %d replicas", field.Live))
	case field.Engine != "":
		return hasChanged(e, field.Engine+" sets them")
	}
	field.Lane = &e.To
	answer := ownership.Decide(field)
	if answer.Lane.Act == ownership.Omit {
		by, _ := field.Claimed()
		return &fsm.Error{Class: fsm.Contested, Err: fmt.Errorf("%s: %s owns the field", e, by), Say: fmt.Sprintf("%q has set the replicas of %s.", by, e.Ref)}
	}
	return h.sendLane(ctx, answer.Lane, kube.SeenOf(live))
}

// errDecidedBefore is of a number that was decided for another state: to look again does not help.
var errDecidedBefore = errors.New("was decided before that")

func hasChanged(e class.Scale, how string) error {
	return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("%s: %s: %w", e, how, errDecidedBefore)}
}

// contested gives a conflict the reason by which a lane yields.
func contested(e class.Scale, err error) error {
	if fsm.ClassOf(err) != fsm.Contested {
		return err
	}
	return &fsm.Error{Class: fsm.Contested, Err: fmt.Errorf("%s: %w", e, err), Reason: enforce.ReasonConflict, Say: fsm.StatusMessage(err)}
}
