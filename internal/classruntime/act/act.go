// Package act performs the effects of area runtime. It is the only package of the area that is handed a writer.
package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Class performs the effects of a ClassRuntime.
type Class struct {
	Writer kube.Writer // of what the spec asks for
	Lane   kube.Writer // of what a lane of enforcement decided
	Live   read.Live
}

// Act performs one effect.
func (a Class) Act(ctx context.Context, c *runtimev1.ClassRuntime, effect fsm.Effect) (string, error) {
	switch e := effect.(type) {
	case class.Apply:
		return "", a.apply(ctx, c, e)
	case class.Scale:
		return "", a.scale(ctx, c, e)
	case class.RemoveOrphans:
		return "", a.remove(ctx, c, e)
	}
	return "", fmt.Errorf("unknown effect %s", effect)
}

// atOnce is how many children are applied at a time: all of a pass share its four seconds.
const atOnce = 8

// apply tries all children of a batch, whatever becomes of one.
func (a Class) apply(ctx context.Context, c *runtimev1.ClassRuntime, e class.Apply) error {
	built, says := map[string]child.Object{}, map[string]int32{}
	for _, f := range spec.Functions(c) {
		says[f.Name] = f.Replicas
		for _, obj := range f.Children() {
			built[spec.KindOf(obj)+"/"+obj.GetName()] = obj
		}
	}
	errs, engines := make([]error, len(e.Children)), a.listEngines(ctx, c)
	places, all := make(chan struct{}, atOnce), sync.WaitGroup{}
	for i, target := range e.Children {
		obj, asked := built[target.Kind+"/"+target.Name].(client.Object)
		if !asked {
			errs[i] = &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: the spec does not ask for it any more", target)}
			continue
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if d, is := obj.(*appsv1.Deployment); is { // its replicas have owners of their own
				errs[i] = blame(target, kube.Classify(handover{Class: a, owner: c, want: d, says: says[d.Name], target: target, engines: engines}.perform(ctx)))
				return
			}
			errs[i] = blame(target, kube.Classify(a.Writer.Apply(ctx, obj, types.UID(target.UID))))
		})
	}
	all.Wait()
	return worst(e.Children, errs)
}

// blame says whose edit makes an apply invalid that was accepted before: who swaps a probe for one of another type leaves both once
// ours is applied again, and to change the spec does not help.
func blame(t class.Target, err error) error {
	if len(t.Corrects) == 0 || fsm.ClassOf(err) != fsm.Refused || fsm.ReasonOf(err) != kube.ReasonInvalidChild {
		return err
	}
	e, by := t.Corrects[0], "somebody"
	if e.By != "" {
		by = fmt.Sprintf("%q", e.By)
	}
	say := fmt.Sprintf("Field %s of %s was changed by %s, and the API server finds what the spec asks for invalid beside that. Undo the edit of %s; or, if its pods may be replaced, delete it, and it is made anew. %s",
		e.Field, t.Ref, by, t.Ref, fsm.StatusMessage(err))
	return &fsm.Error{Class: fsm.Refused, Err: err, Reason: kube.ReasonInvalidChild, Say: say}
}

// gravity orders classes of error: what needs a person is told before what passes by itself.
var gravity = []fsm.ErrorClass{fsm.Refused, fsm.Contested, fsm.Changed, fsm.Transient}

// worst is the gravest error of a batch, with all functions that were refused.
func worst(targets []class.Target, errs []error) error {
	var refusals class.Refusals
	var grave error
	for i, err := range errs {
		if err == nil {
			continue
		}
		if grave == nil || slices.Index(gravity, fsm.ClassOf(err)) < slices.Index(gravity, fsm.ClassOf(grave)) {
			grave = err
		}
		if r, is := refusalOf(targets[i].Function, err); is && !slices.ContainsFunc(refusals, func(o class.Refusal) bool { return o.Function == r.Function }) {
			refusals = append(refusals, r)
		}
	}
	if r, is := refusalOf("", grave); is {
		return &fsm.Error{Class: fsm.ClassOf(grave), Reason: r.Reason, Say: r.Message, Err: errors.Join(refusals, grave)}
	}
	return grave
}

// refusalOf is what a person is told of an error that trying again does not help.
func refusalOf(function string, err error) (class.Refusal, bool) {
	r := class.Refusal{Function: function, Reason: class.ReasonApplyInvalid, Message: fsm.StatusMessage(err)}
	switch fsm.ClassOf(err) {
	case fsm.Contested:
		r.Reason = class.ReasonConflict
	case fsm.Refused:
		if fsm.ReasonOf(err) == kube.ReasonNameTaken {
			r.Reason = class.ReasonNameTaken
		}
	default:
		return r, false
	}
	return r, err != nil
}

// remove deletes children that no function has any more. If it were wrong, a function that runs would be stopped: so
// only these very objects go, in the versions in which they were seen to be this class's own.
func (a Class) remove(ctx context.Context, c *runtimev1.ClassRuntime, e class.RemoveOrphans) error {
	var errs []error
	for _, o := range e.Orphans {
		obj := spec.Blank(o.Kind, c.Namespace, o.Name)
		errs = append(errs, a.Writer.Delete(ctx, obj, kube.Seen{UID: types.UID(o.UID), ResourceVersion: o.Version}))
	}
	return errors.Join(errs...)
}
