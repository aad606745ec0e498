package kube

import (
	"context"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

// reserving is a target and who may want it.
type reserving struct {
	*testing.T
	kube.Reservations
	env    kube.Env
	target read.Ref
	holder *kubetest.Lamp
	who    read.Ref // the holder
	other  read.Ref
}

func newReserving(t *testing.T, oneShot bool) reserving {
	t.Helper()
	b := lamps(t)
	namespace := bedtest.Namespace(t, b)
	r := reserving{T: t, env: envOf(newClient(t, b.Config()), namespace)}
	r.env.Kinds = lampKinds(oneShot)
	r.Reservations = r.env.Reservations()
	r.target = refOf(create(t, r.env.Client, lampOf(namespace, "target")))
	r.holder = create(t, r.env.Client, lampOf(namespace, "holder"))
	r.who = refOf(r.holder)
	r.other = refOf(create(t, r.env.Client, lampOf(namespace, "other")))
	return r
}

func (r reserving) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// refused says that the target is the holder's.
func (r reserving) refused(err error) {
	r.Helper()
	if say := "Waiting for Lamp " + r.who.Namespace + "/holder, which has reserved the target, to release it."; fsm.ClassOf(err) != fsm.Changed || fsm.StatusMessage(err) != say {
		r.Errorf("class %s, says %q: %v", fsm.ClassOf(err), fsm.StatusMessage(err), err)
	}
}

func (r reserving) lease() *coordinationv1.Lease {
	r.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: read.LeaseName(r.target.UID)}}
	return get(r.T, r.env.Client, lease)
}

func TestATargetIsTakenAndGivenBack(t *testing.T) {
	r := newReserving(t, false)
	ctx := t.Context()
	r.must(r.Take(ctx, r.target, r.who))
	was := r.lease()
	r.must(r.Take(ctx, r.target, r.who)) // again, because the answer was lost
	r.must(r.Release(ctx, r.target, r.other))
	unchanged(t, r.env.Client, was)
	r.refused(r.Take(ctx, r.target, r.other))
	if res, err := r.Of(ctx, r.target.UID); err != nil || !res.HeldBy(r.who) || res.Free() || res.Transitions != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	for range 2 { // the second time nobody has it
		r.must(r.Release(ctx, r.target, r.who))
	}
	if res, err := r.Of(ctx, r.target.UID); err != nil || !res.Free() || res.Holder != (read.Ref{}) {
		t.Errorf("%+v, %v", res, err)
	}
	r.must(r.Take(ctx, r.target, r.other))
	if res, err := r.Of(ctx, r.target.UID); err != nil || !res.HeldBy(r.other) || res.Transitions != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := r.Of(ctx, "never-taken"); err != nil || !res.Free() {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAHolderThatIsGoneIsReplaced(t *testing.T) {
	r := newReserving(t, false)
	r.must(r.Take(t.Context(), r.target, r.who))
	r.must(r.env.Client.Delete(t.Context(), r.holder))
	create(t, r.env.Client, lampOf(r.Namespace, "holder")) // the name is back, the holder is not
	if res, err := r.Of(t.Context(), r.target.UID); err != nil || !res.Abandoned || !res.HeldBy(r.who) || !res.Free() {
		t.Errorf("%+v, %v", res, err)
	}
	r.must(r.Take(t.Context(), r.target, r.other))
}

// TestALeaseGetsItsLabelBack: without its label no watch and no sweep finds a Lease, and takers read it all the same.
func TestALeaseGetsItsLabelBack(t *testing.T) {
	r := newReserving(t, false)
	ctx := t.Context()
	r.must(r.Take(ctx, r.target, r.who))
	lease := r.lease()
	lease.Labels = nil
	r.must(r.env.Client.Update(ctx, lease))
	r.refused(r.Take(ctx, r.target, r.other))
	r.must(r.Release(ctx, r.target, r.who))
	r.must(r.Take(ctx, r.target, r.other))
	if lease := r.lease(); len(lease.Labels) != 1 {
		t.Errorf("labels %v", lease.Labels)
	}
}

// TestALeaseGetsItsTargetBack: without it no sweep finds out that the target is gone.
func TestALeaseGetsItsTargetBack(t *testing.T) {
	r := newReserving(t, false)
	ctx := t.Context()
	r.must(r.Take(ctx, r.target, r.who))
	want := r.lease().Annotations
	lease := r.lease()
	lease.Annotations = nil
	r.must(r.env.Client.Update(ctx, lease))
	r.must(r.Take(ctx, r.target, r.who))
	if diff := cmp.Diff(want, r.lease().Annotations); diff != "" {
		t.Error(diff)
	}
}

// TestAMarkOutlivesItsHolder: a target that was never taken is marked, taken, released and taken over, and bears the mark
// of the first until that one is resolved.
func TestAMarkOutlivesItsHolder(t *testing.T) {
	r := newReserving(t, false)
	ctx := t.Context()
	mark := &reserve.Unresolved{By: r.who, Requester: "dora"}
	r.must(r.MarkUnresolved(ctx, r.target, *mark))
	r.must(r.MarkUnresolved(ctx, r.target, reserve.Unresolved{By: r.other, Requester: "bob"}))
	bears := func(holder read.Ref) {
		t.Helper()
		res, err := r.Of(ctx, r.target.UID)
		if diff := cmp.Diff(mark, res.Unresolved); diff != "" || err != nil || !res.HeldBy(holder) {
			t.Errorf("held by %s, %s, %v", res.Holder.Title(), diff, err)
		}
	}
	bears(read.Ref{})
	r.must(r.Take(ctx, r.target, r.who))
	r.must(r.env.Client.Delete(ctx, r.holder))
	r.must(r.Take(ctx, r.target, r.other))
	bears(r.other)
	r.must(r.Resolve(ctx, r.target, r.other.UID))
	bears(r.other)
	r.must(r.Release(ctx, r.target, r.other))
	bears(read.Ref{})
	r.must(r.Resolve(ctx, r.target, r.who.UID))
	mark = nil
	bears(read.Ref{})
}

// TestSweepOfAnyKind: all kinds that are served are looked at, and no other.
func TestSweepOfAnyKind(t *testing.T) {
	r := newReserving(t, false)
	ctx, c := t.Context(), r.env.Client
	gone, claim := create(t, c, lampOf(r.Namespace, "gone")), create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(r.Namespace, "claim", nil)})
	unserved := read.Ref{Kind: "Thing.elsewhere.statecraft.dev", Namespace: r.Namespace, Name: "a", UID: "elsewhere"}
	for _, target := range []read.Ref{r.target, refOf(gone), reserve.RefOf(schema.GroupKind{Kind: "ConfigMap"}, claim), unserved} {
		r.must(r.Take(ctx, target, r.who))
	}
	for _, obj := range []client.Object{gone, claim} {
		r.must(c.Delete(ctx, obj))
	}
	if n, err := r.Sweep(ctx, kube.AnyKind); err != nil || n != 2 {
		t.Errorf("swept %d: %v", n, err)
	}
	r.lease()
}

// A holder that deletes, or ends, is still at work; and one that says nothing for
// years may be, too.
func TestALivingHolderIsNeverReplaced(t *testing.T) {
	stands := func(phase fsm.Phase) func(reserving) {
		return func(r reserving) {
			r.holder.Status.Phase = phase
			r.must(r.env.Client.Status().Update(r.Context(), r.holder))
		}
	}
	long := func(r reserving) {
		lease := r.lease()
		lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().AddDate(-10, 0, 0)}
		lease.Spec.AcquireTime = lease.Spec.RenewTime
		lease.Spec.LeaseDurationSeconds = ptr.To(int32(1))
		r.must(r.env.Client.Update(r.Context(), lease))
	}
	terminating := func(r reserving) {
		r.holder.Finalizers = []string{"test.statecraft.dev/cleans-up"}
		r.must(r.env.Client.Update(r.Context(), r.holder))
		r.must(r.env.Client.Delete(r.Context(), r.holder))
		r.Cleanup(func() {
			off := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			r.must(r.env.Client.Patch(context.Background(), r.holder, off))
		})
	}
	for what, c := range map[string]struct {
		oneShot  bool
		then     func(reserving)
		replaced bool
	}{
		"a standing kind that is ready":        {false, stands("Steady"), false},
		"a standing kind that has failed":      {false, stands("Failed"), false},
		"a one-shot that was not looked at":    {true, func(reserving) {}, false},
		"a one-shot at work":                   {true, stands("Working"), false},
		"a one-shot of a newer version":        {true, stands("Dreaming"), false},
		"a one-shot that is ready, or done":    {true, stands("Steady"), true},
		"a one-shot that has failed":           {true, stands("Failed"), true},
		"one that was last heard of years ago": {true, long, false},
		"one that is being deleted":            {true, terminating, false},
	} {
		t.Run(what, func(t *testing.T) {
			r := newReserving(t, c.oneShot)
			r.must(r.Take(t.Context(), r.target, r.who))
			c.then(r)
			if err := r.Take(t.Context(), r.target, r.other); c.replaced {
				r.must(err)
			} else {
				r.refused(err)
			}
		})
	}
}

// Who cannot tell whether the holder lives does not replace it.
func TestAHolderThatCannotBeReadIsNotReplaced(t *testing.T) {
	r := newReserving(t, true)
	unserved := read.Ref{Kind: "Thing.unknown.statecraft.dev", Namespace: r.Namespace, Name: "a", UID: "1"}
	r.must(r.Take(t.Context(), r.target, unserved))
	if err := r.Take(t.Context(), r.target, r.who); fsm.ClassOf(err) != fsm.Transient {
		t.Errorf("class %s: %v", fsm.ClassOf(err), err)
	}
	if res, err := r.Of(t.Context(), r.target.UID); err == nil || res.Free() {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestSweepDeletesTheLeasesOfGoneTargetsOnly(t *testing.T) {
	r := newReserving(t, false)
	ctx, c := t.Context(), r.env.Client
	claim := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(r.Namespace, "claim", nil)})
	coreRef := reserve.RefOf(schema.GroupKind{Kind: "ConfigMap"}, claim)
	gone, renamed := create(t, c, lampOf(r.Namespace, "gone")), create(t, c, lampOf(r.Namespace, "renamed"))
	elsewhere := read.Ref{Kind: "Thing.elsewhere.statecraft.dev", Namespace: r.Namespace, Name: "a", UID: "elsewhere"}
	for _, target := range []read.Ref{r.target, refOf(gone), refOf(renamed), coreRef, elsewhere} {
		r.must(r.Take(ctx, target, r.who))
	}
	foreign := create(t, c, &coordinationv1.Lease{ObjectMeta: objectMeta(r.Namespace, "election", nil)})
	for _, l := range []*kubetest.Lamp{gone, renamed} {
		r.must(c.Delete(ctx, l))
	}
	create(t, c, lampOf(r.Namespace, "renamed")) // another object by that name
	swept := func(want int, kinds ...schema.GroupKind) {
		t.Helper()
		if n, err := r.Sweep(ctx, kinds...); err != nil || n != want {
			t.Errorf("swept %d Leases of %v: %v", n, kinds, err)
		}
	}
	lamp, core := schema.GroupKind{Group: kubetest.GroupVersion.Group, Kind: "Lamp"}, schema.GroupKind{Kind: "ConfigMap"}
	swept(0)
	swept(2, lamp, core)
	swept(0, lamp)
	swept(0, core)
	swept(0, elsewhere.GroupKind()) // not served: nothing is known
	r.must(c.Delete(ctx, claim))
	swept(1, core)
	var left coordinationv1.LeaseList
	r.must(c.List(ctx, &left, client.InNamespace(r.Namespace)))
	if len(left.Items) != 3 {
		t.Errorf("left: %+v", left.Items)
	}
	r.lease()
	unchanged(t, c, foreign)
}

// The checker must fail when Take is broken, or it shows nothing. Each way to break
// it lets a second contender in while the first is at work.
func TestTheCheckerSeesABrokenTake(t *testing.T) {
	for how, c := range map[string]struct {
		spoil func(*kube.Env, *kube.Reservations)
		want  porcupine.CheckResult
	}{
		"as it is":                    {func(*kube.Env, *kube.Reservations) {}, porcupine.Ok},
		"without the resourceVersion": {func(e *kube.Env, r *kube.Reservations) { e.Client = careless{e.Client}; *r = e.Reservations() }, porcupine.Illegal},
		"taking the living for dead": {func(_ *kube.Env, r *kube.Reservations) {
			r.Alive = func(context.Context, read.Ref) (bool, error) { return false, nil }
		}, porcupine.Illegal},
	} {
		t.Run(how, func(t *testing.T) {
			r := newReserving(t, false)
			r.must(r.Take(t.Context(), r.target, r.who))
			r.must(r.Release(t.Context(), r.target, r.who)) // there is a Lease, and it is free
			m := &memory{}
			a, b := newContender(contest{Namespace: r.Namespace, Targets: []read.Ref{r.target}}, "a", 0, m), newContender(contest{Namespace: r.Namespace}, "b", 0, m)
			first := r.env.Reservations()
			second := r.env.Reservations()
			c.spoil(&r.env, &second)
			// The second looks while the target is free, and writes when the first has it.
			second.Live = read.Live{Reader: &afterLook{second.Live, func() {
				_, err := a.does(event{Verb: verbTake, Holder: "holder"}, func() error { return first.Take(t.Context(), r.target, r.who) })
				r.must(err)
			}}}
			_, err := b.does(event{Verb: verbTake, Holder: "other"}, func() error { return second.Take(t.Context(), r.target, r.other) })
			r.must(err)
			_, err = b.does(event{Verb: verbTake, Holder: "other"}, func() error { return second.Take(t.Context(), r.target, r.other) })
			r.must(err)
			if got := judge(t, m.history); got != c.want {
				t.Errorf("%s: %s, want %s", how, got, c.want)
			}
		})
	}
}

// careless writes over whatever is there. The API server wants a version in every
// update of a Lease, so it gets the newest.
type careless struct{ client.Client }

func (c careless) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	var now coordinationv1.Lease
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), &now); err != nil {
		return err
	}
	obj.SetResourceVersion(now.ResourceVersion)
	return c.Client.Update(ctx, obj, opts...)
}

// afterLook does something once, after a Lease was read.
type afterLook struct {
	client.Reader
	then func()
}

func (a *afterLook) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := a.Reader.Get(ctx, key, obj, opts...)
	if _, is := obj.(*coordinationv1.Lease); is && a.then != nil {
		then := a.then
		a.then = nil
		then()
	}
	return err
}
