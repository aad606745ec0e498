package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Limits of the passes of one kind.
type Limits struct {
	Workers int           // passes at a time
	Slow    int           // of them, passes over objects whose last pass was slow
	Observe time.Duration // for one look at the world
	Act     time.Duration // for the effects of one pass; longer work belongs to a Worker
}

// DefaultLimits are for kinds whose world is Kubernetes. The time for effects is shorter than
// what election leaves to a deposed leader.
func DefaultLimits() Limits {
	return Limits{Workers: 8, Slow: 2, Observe: 4 * time.Second, Act: 4 * time.Second}
}

const soon = time.Nanosecond // RequeueAfter 0 means never

// Reconciler runs one machine over the objects of one kind.
type Reconciler[T Object[T], W any] struct {
	Machine *fsm.Machine[T, W]
	Store   Store[T]
	// Observe reads the world. A fact that it could not read is left out; it
	// returns an error only when it saw too little to decide anything.
	Observe func(context.Context, T) (W, error)
	// Act performs one effect. The ref is what the outside gave back, such as a UID.
	Act    func(context.Context, T, fsm.Effect) (ref string, err error)
	Trace  *Trace
	Now    func() time.Time
	Limits Limits
	// AfterPass is told after each pass what became of the object, to set how often its
	// world is sampled; found is false when it is gone. It may be nil.
	AfterPass func(key read.Key, obj T, found bool)
	// QuietWhileReady are objects that have series of their own only while they are not ready:
	// thousands may belong to what has none itself. It may be nil.
	QuietWhileReady func(key read.Key) bool
	// Concerns says which objects of the kind the machine runs over. Of a kind that others have too, such as Pods, most
	// are none of ours: they are not watched, counted or read. It may be nil, which is all of them.
	Concerns func(T) bool
	// Passed is told of each pass over an object, after all else of it. It may be nil.
	Passed func(PassReport[T])

	shard        Shard
	blind        streaks // failed looks
	conflicts    streaks // saves that somebody else's came before
	slow         slowLane
	reservations Reservations
	group        string // of the kind
}

// Reconcile runs a pass and says when the next is due.
func (r *Reconciler[T, W]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if !r.shard.Has(req.NamespacedName) {
		return reconcile.Result{}, nil // woken by a child, but another process works on it
	}
	counted, may := r.slow.enter(req.NamespacedName, r.Limits.Slow)
	if !may {
		return reconcile.Result{RequeueAfter: slowAgain}, nil
	}
	began := r.Now()
	again, found, err := r.pass(ctx, req.NamespacedName)
	r.slow.leave(req.NamespacedName, counted, r.Now().Sub(began))
	switch {
	case err == nil && !found:
		r.slow.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, err
	case again == fsm.Never:
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(again, soon)}, nil
}

// Pass is one turn: read, decide, act, save. It is exported for the simulation,
// which runs passes one by one.
func (r *Reconciler[T, W]) Pass(ctx context.Context, key read.Key) (again time.Duration, err error) {
	again, _, err = r.pass(ctx, key)
	return again, err
}

// pass is Pass, and says whether the object exists.
func (r *Reconciler[T, W]) pass(ctx context.Context, key read.Key) (again time.Duration, found bool, err error) {
	ctx, done := r.Trace.pass(ctx, key)
	defer func() { done(err) }()
	obj, found, err := r.Store.Get(ctx, key)
	switch {
	case err != nil:
		r.blind.forget(key)
		return fsm.Never, found, err
	case !found:
		r.gone(key)
		return fsm.Never, false, nil
	case r.Trace.meet(key, obj.GetUID()):
		r.gone(key) // the object that had the name before
		r.Trace.meet(key, obj.GetUID())
	}
	if r.Concerns != nil && !r.Concerns(obj) {
		r.gone(key) // something else of it woke us, or it is ours no more
		return fsm.Never, false, nil
	}
	again, err = r.report(ctx, key, obj)
	return again, true, err
}

// gone forgets all that is kept in memory for an object.
func (r *Reconciler[T, W]) gone(key read.Key) {
	r.blind.forget(key)
	r.conflicts.forget(key)
	r.slow.forget(key)
	r.Trace.gone(key)
	r.then(key, newOf[T](), false)
}

// look observes an object that exists, and decides.
func (r *Reconciler[T, W]) look(ctx context.Context, key read.Key, obj T, report *PassReport[T]) (time.Duration, error) {
	in := fsm.Input[T, W]{Obj: obj, Now: r.Now()}
	var err error
	in.World, err = r.observe(ctx, obj)
	if err != nil && obj.GetDeletionTimestamp() == nil && r.knows(obj) {
		return r.cannotObserve(ctx, key, in, err, report)
	}
	// What is being deleted is decided upon even blind: in an empty World nothing
	// is known, so nothing but the deletion can be acted on. And a phase that is
	// unknown is refused, seeing or not.
	r.blind.forget(key)
	return r.decide(ctx, key, in, report)
}

// observe returns nothing but a whole World: in half of one, what was not read
// could pass for what is not there.
func (r *Reconciler[T, W]) observe(ctx context.Context, obj T) (w W, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Limits.Observe)
	defer cancel()
	seen, err := r.Observe(ctx, obj)
	if err != nil {
		return w, err
	}
	return seen, nil
}

// knows says that the object is in a phase of this machine, or in none yet.
func (r *Reconciler[T, W]) knows(obj T) bool {
	phase := obj.GetProgress().Phase
	_, known := r.Machine.Phases[phase]
	return known || phase == ""
}

// decide takes the key that the object was found by: a Store may name objects by more than their names.
func (r *Reconciler[T, W]) decide(ctx context.Context, key read.Key, in fsm.Input[T, W], report *PassReport[T]) (time.Duration, error) {
	step, err := r.Machine.Step(in)
	if err != nil {
		return r.refuse(ctx, key, in, err)
	}
	outcomes := r.act(ctx, in.Obj, step.Decision.Do)
	next := r.Machine.Reduce(in, step, outcomes)
	report.Decision, report.Outcomes = step.Decision, outcomes
	if !equality.Semantic.DeepEqual(in.Obj, next.Obj) {
		if err := r.Store.Save(ctx, in.Obj, next.Obj); err != nil {
			report.Err = err
			return r.notSaved(key, err)
		}
	}
	report.After = next.Obj
	r.conflicts.forget(key)
	r.Trace.at(key, next.Obj.GetProgress())
	traceMoves(r.Trace, in, step, next)
	traceProofs(r.Trace, next.Obj, outcomes)
	traceNews(r.Trace, next.Obj, outcomes)
	traceFailures(r.Trace, next.Obj, r.place(next.Obj, step.Lane), next.Hops, outcomes)
	r.then(key, next.Obj, true)
	return next.Again, nil
}

// place is where the object stands, or the lane whose decision it was.
func (r *Reconciler[T, W]) place(obj T, lane string) *meta.Place {
	if lane != "" {
		return r.Machine.Lanes.At(obj, lane)
	}
	return &obj.GetProgress().Place
}

func (r *Reconciler[T, W]) then(key read.Key, obj T, found bool) {
	if r.AfterPass != nil {
		r.AfterPass(key, obj, found)
	}
}

// act performs effects in order and stops at the first that fails.
func (r *Reconciler[T, W]) act(ctx context.Context, obj T, effects []fsm.Effect) (outcomes []fsm.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, r.Limits.Act)
	defer cancel()
	log := logr.FromContextOrDiscard(ctx).WithValues("phase", obj.GetProgress().Phase)
	for _, e := range effects {
		effectCtx, done := r.Trace.effect(ctx, e)
		ref, err := r.perform(effectCtx, obj, e)
		err = Classify(err)
		done(err)
		outcomes = append(outcomes, fsm.Outcome{Effect: e, Ref: ref, Err: err})
		if err != nil {
			log.Info("effect failed", "effect", e.String(), "class", fsm.ClassOf(err), "error", err.Error())
			break
		}
		log.V(1).Info("effect performed", "effect", e.String())
	}
	return outcomes
}

// perform performs one effect. What cannot be undone is done only for the object as it is at
// this moment: another leader may have gone on since it was read.
func (r *Reconciler[T, W]) perform(ctx context.Context, obj T, e fsm.Effect) (ref string, err error) {
	if proven, is := e.(fsm.Proven); is && proven.Evidence() != "" {
		current, err := r.Store.Current(ctx, obj)
		if err != nil {
			return "", err
		}
		if !current {
			return "", &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("%s: the object has changed since it was decided upon", e)}
		}
	}
	if known, err := r.reservations.perform(ctx, r.self(obj), e); known {
		return "", err
	}
	return r.Act(ctx, obj, e)
}

// self names the object as a holder of reservations.
func (r *Reconciler[T, W]) self(obj T) read.Ref {
	return reserve.RefOf(schema.GroupKind{Group: r.group, Kind: r.Machine.Kind}, obj)
}

// notSaved: a status of another version is looked at anew, later with every time in a row: the
// effects of such a pass are performed again, which is harmless but not free. A missing object
// is done with.
func (r *Reconciler[T, W]) notSaved(key read.Key, err error) (time.Duration, error) {
	switch {
	case apierrors.IsConflict(err):
		return min(soonAfterConflict<<min(r.conflicts.add(key)-1, 10), latestAfterConflict), nil
	case apierrors.IsNotFound(err):
		return fsm.Never, nil
	case errors.Is(err, context.Canceled):
		return fsm.Never, nil
	}
	return fsm.Never, err
}

// The cache shows what we conflicted with within this time, as a rule.
const (
	soonAfterConflict   = 50 * time.Millisecond
	latestAfterConflict = 5 * time.Second
)
