package kube

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"golang.org/x/sys/unix"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// contest is what contenders fight over.
type contest struct {
	Namespace string     // of the Leases and of the holders
	Targets   []read.Ref // any UIDs will do
}

func newContender(c contest, id string, seed uint64, log journal) *contender {
	return &contender{
		contest: c, id: id, log: log, chance: rand.New(rand.NewPCG(seed, 0)),
		holders: map[int]*kubetest.Lamp{}, maybe: map[int]bool{},
	}
}

// contender takes targets at random, one holder object per target, and gives them
// back in all the ways there are. Whatever it does is recorded.
type contender struct {
	contest
	id      string
	chance  *rand.Rand
	client  client.Client
	log     journal
	holders map[int]*kubetest.Lamp // by target
	maybe   map[int]bool           // the targets that they may hold, as far as this contender knows
	made    int

	holderBefore string // of the Lease that was read last
	takenOver    int
}

var errKilled = errors.New("killed")

// fuse kills a contender at one of its calls: before it, or after it so that the
// answer is lost.
type fuse struct {
	left       int
	losesReply bool
	dead       bool
}

func (f *fuse) around(call func() error) error {
	if f.dead {
		return errKilled
	}
	if f.left--; f.left != 0 {
		return call()
	}
	f.dead = true
	if f.losesReply {
		_ = call() // whatever it was, nobody hears of it
	}
	return errKilled
}

// mortal is a client that dies with its fuse.
func mortal(inner client.WithWatch, f *fuse) client.WithWatch {
	return interceptor.NewClient(inner, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return f.around(func() error { return c.Get(ctx, key, obj, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return f.around(func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return f.around(func() error { return c.Update(ctx, obj, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			return f.around(func() error { return c.SubResource(sub).Update(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return f.around(func() error { return c.Delete(ctx, obj, opts...) })
		},
	})
}

// reservations of this contender, which note who held what it is about to take.
func (c *contender) reservations() kube.Reservations {
	env := envOf(c.client, c.Namespace)
	env.Kinds = lampKinds(true)
	env.Live = noting{env.Live, &c.holderBefore}
	return env.Reservations()
}

type noting struct {
	client.Reader
	holder *string
}

func (n noting) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := n.Reader.Get(ctx, key, obj, opts...)
	if lease, is := obj.(*coordinationv1.Lease); is {
		*n.holder = ""
		if err == nil && lease.Spec.HolderIdentity != nil {
			*n.holder = *lease.Spec.HolderIdentity
		}
	}
	return err
}

var lampKind = "Lamp." + kubetest.GroupVersion.Group

func refOf(l *kubetest.Lamp) read.Ref {
	return reserve.RefOf(schema.GroupKind{Group: kubetest.GroupVersion.Group, Kind: "Lamp"}, l)
}

// round takes a target, if it can, and gives it back in some way.
func (c *contender) round(ctx context.Context) error {
	target := c.chance.IntN(len(c.Targets))
	holder, err := c.holder(ctx, target)
	if err != nil {
		return err
	}
	if c.chance.IntN(20) == 0 { // as a rule of what it does not hold
		return c.release(ctx, target, holder)
	}
	taken, err := c.take(ctx, target, holder)
	if err != nil || !taken {
		return err
	}
	switch c.chance.IntN(10) {
	case 0, 1:
		return c.end(target, func() error { return client.IgnoreNotFound(c.client.Delete(ctx, holder)) })
	case 2:
		return c.end(target, func() error { return c.finish(ctx, holder) })
	default:
		return c.release(ctx, target, holder)
	}
}

// holder is the object that this contender holds a target with.
func (c *contender) holder(ctx context.Context, target int) (*kubetest.Lamp, error) {
	if l := c.holders[target]; l != nil {
		return l, nil
	}
	c.made++
	l := lampOf(c.Namespace, fmt.Sprintf("%s-%d", c.id, c.made))
	l.Labels = map[string]string{"contender": c.id, "target": fmt.Sprint(target)}
	if err := c.client.Create(ctx, l); err != nil {
		return nil, err // it may be there, but holds nothing
	}
	c.holders[target] = l
	return l, nil
}

// finish makes a holder final, as the last status write of a one-shot does.
func (c *contender) finish(ctx context.Context, holder *kubetest.Lamp) error {
	l := holder.DeepCopy()
	l.Status.Phase = "Failed"
	return client.IgnoreNotFound(c.client.Status().Update(ctx, l))
}

func (c *contender) take(ctx context.Context, target int, holder *kubetest.Lamp) (bool, error) {
	who := refOf(holder)
	taken, err := c.does(event{Verb: verbTake, Holder: holder.Name, Target: target}, func() error {
		return c.reservations().Take(ctx, c.Targets[target], who)
	})
	if taken && c.holderBefore != "" && c.holderBefore != who.String() {
		c.takenOver++
	}
	return taken, err
}

func (c *contender) release(ctx context.Context, target int, holder *kubetest.Lamp) error {
	_, err := c.does(event{Verb: verbRelease, Holder: holder.Name, Target: target}, func() error {
		return c.reservations().Release(ctx, c.Targets[target], refOf(holder))
	})
	return err
}

// end ends the holder of a target in some way; the next one is another object.
func (c *contender) end(target int, how func() error) error {
	done, err := c.does(event{Verb: verbEnd, Holder: c.holders[target].Name, Target: target}, how)
	if done {
		delete(c.holders, target)
	}
	return err
}

// does something, and records it.
func (c *contender) does(e event, what func() error) (done bool, err error) {
	e.Called = monotonic()
	c.log.calls(e)
	err = kube.Classify(what())
	e.Returned = monotonic()
	by, held := strings.CutSuffix(fsm.StatusMessage(err), ", which has reserved the target, to release it.")
	by = strings.TrimPrefix(by, "Waiting for Lamp "+c.Namespace+"/")
	switch {
	case err == nil:
		e.Result = resultDone
	case held:
		e.Result, e.By, err = resultHeld, by, nil
	case fsm.ClassOf(err) == fsm.Changed:
		e.Result, err = resultLost, nil
	case errors.Is(err, errKilled):
		e.Result = resultUnknown
	default: // it may still happen, at any time
		e.Result, e.Returned = resultUnknown, never
	}
	c.log.answers(e)
	if e.Result == resultUnknown || e.Result == resultDone {
		c.maybe[e.Target] = e.Result == resultUnknown || e.Verb == verbTake
	}
	return e.Result == resultDone, err
}

// journal is told of every call before and after.
type journal interface {
	calls(event)
	answers(event)
}

func monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // the clock of all processes on this machine
	}
	return now.Nano()
}

// lampKinds says when lamps rest, as their machine would.
func lampKinds(oneShot bool) []kube.Kind {
	return []kube.Kind{{
		GroupKind: schema.GroupKind{Group: kubetest.GroupVersion.Group, Kind: "Lamp"}, OneShot: oneShot,
		Rests: func(phase fsm.Phase) bool { return phase == "Steady" || phase == "Failed" },
	}}
}
