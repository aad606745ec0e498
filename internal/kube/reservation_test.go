package kube

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// The objects of these tests are ConfigMaps: any kind can be a target or a holder.
func configMapNamed(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid of " + name)}}
}

func refTo(name string) read.Ref {
	return reserve.RefOf(schema.GroupKind{Kind: "ConfigMap"}, configMapNamed(name))
}

var reservedTarget, us, another = refTo("target"), refTo("us"), refTo("another")

// reserving is a server with a target, and two objects that may operate on it.
func reserving(t *testing.T, objects ...client.Object) (Reservations, client.Client) {
	t.Helper()
	objects = append(objects, configMapNamed("target"), configMapNamed("us"), configMapNamed("another"))
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).
		WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(clientgoscheme.Scheme)).Build()
	return Env{Client: c, Live: c, Namespace: "system"}.Reservations(), c
}

// leaseOfTarget is a Lease as the adapter makes it, with a holder and a mark, or without.
func leaseOfTarget(holder, mark string) *coordinationv1.Lease {
	lease := newLease("system", reservedTarget)
	if holder != "" {
		lease.Spec.HolderIdentity, lease.Spec.LeaseTransitions = ptr.To(holder), ptr.To(int32(1))
	}
	if mark != "" {
		lease.Annotations[read.UnresolvedAnnotation] = mark
	}
	return lease
}

func storedLease(t *testing.T, c client.Client) *coordinationv1.Lease {
	t.Helper()
	var lease coordinationv1.Lease
	err := c.Get(t.Context(), read.Key{Namespace: "system", Name: read.LeaseName(reservedTarget.UID)}, &lease)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &lease
}

func holderOf(lease *coordinationv1.Lease) string { return ptr.Deref(lease.Spec.HolderIdentity, "") }

// before is a reader between whose answer and its use something happens.
type before struct {
	client.Reader
	use func()
}

func (b before) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := b.Reader.Get(ctx, key, obj, opts...)
	b.use()
	return err
}

// otherMark is the mark of another object.
const otherMark = `{"by":"ConfigMap./shop/another/uid of another","requester":"dora"}`

// TestATakenLeaseIsFound: without its label and its target no watch and no sweep finds a Lease, so whoever takes the
// target puts them back. A mark stays.
func TestATakenLeaseIsFound(t *testing.T) {
	whole := func(*coordinationv1.Lease) {}
	noLabel := func(l *coordinationv1.Lease) { l.Labels = nil }
	noTarget := func(l *coordinationv1.Lease) { delete(l.Annotations, reservationTarget) }
	edited := func(l *coordinationv1.Lease) { l.Annotations[reservationTarget] = refTo("edited").String() }
	for name, tc := range map[string]struct {
		holder, mark string
		lose         func(*coordinationv1.Lease)
		unchanged    bool
	}{
		"it is free":                                     {"", "", whole, false},
		"it is free, and has lost its label":             {"", "", noLabel, false},
		"it is free, and has lost its target":            {"", "", noTarget, false},
		"it is free, and its target was edited":          {"", "", edited, false},
		"it is free and marked":                          {"", otherMark, whole, false},
		"it is free and marked, and has lost its target": {"", otherMark, noTarget, false},
		"it is ours":                                     {us.String(), "", whole, true},
		"it is ours and marked":                          {us.String(), otherMark, whole, true},
		"it is ours, and has lost its label":             {us.String(), "", noLabel, false},
		"it is ours, and has lost its target":            {us.String(), otherMark, noTarget, false},
		"its holder is gone, and it is marked":           {refTo("gone").String(), otherMark, noTarget, false},
	} {
		want := leaseOfTarget(us.String(), tc.mark)
		lease := leaseOfTarget(tc.holder, tc.mark)
		tc.lose(lease)
		r, c := reserving(t, lease)
		was := storedLease(t, c)
		if err := r.Take(t.Context(), reservedTarget, us); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		is := storedLease(t, c)
		if diff := cmp.Diff(want.Annotations, is.Annotations) + cmp.Diff(want.Labels, is.Labels); diff != "" || *is.Spec.HolderIdentity != us.String() {
			t.Errorf("%s: held by %s, %s", name, *is.Spec.HolderIdentity, diff)
		}
		if unchanged := was.ResourceVersion == is.ResourceVersion; unchanged != tc.unchanged {
			t.Errorf("%s: it was left as it was: %t", name, unchanged)
		}
	}
}

// TestWhoIsRefusedWritesNothing, not even what a Lease of another has lost.
func TestWhoIsRefusedWritesNothing(t *testing.T) {
	lease := leaseOfTarget(another.String(), "")
	lease.Labels, lease.Annotations = nil, nil
	r, c := reserving(t, lease)
	was := storedLease(t, c)
	if err := r.Take(t.Context(), reservedTarget, us); fsm.ClassOf(err) != fsm.Changed || fsm.StatusMessage(err) == "" {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(was, storedLease(t, c)); diff != "" {
		t.Error(diff)
	}
}

func TestATargetThatWasNeverTakenGetsALease(t *testing.T) {
	r, c := reserving(t)
	if known, err := r.perform(t.Context(), us, reserve.Take{Target: reservedTarget}); !known || err != nil {
		t.Fatalf("%t, %v", known, err)
	}
	want, is := leaseOfTarget(us.String(), ""), storedLease(t, c)
	if diff := cmp.Diff(want.Annotations, is.Annotations) + cmp.Diff(want.Labels, is.Labels) + cmp.Diff(want.Spec, is.Spec); diff != "" {
		t.Error(diff)
	}
}
