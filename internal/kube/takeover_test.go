package kube

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// sent is one apply as it left the writer.
type sent struct {
	UID, Version string
	Forced       bool
}

// recording is a writer whose applies are recorded, and answered by err; there is what exists.
func recording(all *[]sent, err error, there ...client.Object) Writer {
	c := interceptor.NewClient(fake.NewClientBuilder().WithObjects(there...).Build(), interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			o := (&client.ApplyOptions{}).ApplyOptions(opts)
			u := obj.(metav1.Object)
			*all = append(*all, sent{string(u.GetUID()), u.GetResourceVersion(), o.Force != nil && *o.Force})
			return err
		},
	})
	return Env{Client: c, Live: c}.Writer("test")
}

// What is forced always says which version it is for, and what says a version is not sent without.
func TestForceSaysWhatWasSeen(t *testing.T) {
	seen := Seen{UID: "u1", ResourceVersion: "7"}
	for what, c := range map[string]struct {
		write func(Writer, client.Object, Seen) error
		want  []sent
	}{
		"take over": {func(w Writer, obj client.Object, s Seen) error { return w.TakeOver(t.Context(), obj, s) }, []sent{{"u1", "7", true}}},
		"apply to":  {func(w Writer, obj client.Object, s Seen) error { return w.ApplyTo(t.Context(), obj, s) }, []sent{{"u1", "7", false}}},
	} {
		var all []sent
		w := recording(&all, nil)
		obj := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "child", ResourceVersion: "1"}}
		for _, s := range []Seen{{}, {UID: "u1"}, {ResourceVersion: "7"}} {
			if err := c.write(w, obj, s); fsm.ClassOf(err) != fsm.Refused {
				t.Errorf("%s: %+v: %v", what, s, err)
			}
		}
		if err := c.write(w, obj, seen); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(c.want, all); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// What people set by hand is overruled in the version of which that was said, and only if it is the child that was seen: one that came
// into being between a look at its name and the apply is somebody's own.
func TestWhatIsOverruled(t *testing.T) {
	byHand := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.ports", Message: `conflict with "kubectl-expose" using v1`},
	}}}}
	named := func(uid types.UID, owner types.UID) client.Object {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "child", UID: uid, ResourceVersion: "7"}}
		if owner != "" {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Lamp", Name: "lamp", UID: owner, Controller: ptr.To(true)}}
		}
		return s
	}
	former, going := named("u2", "o0"), named("u2", "")
	going.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	going.SetFinalizers([]string{"example.com/hold"})
	apply := func(seen types.UID) func(Writer, client.Object) error {
		return func(w Writer, obj client.Object) error { return w.Apply(t.Context(), obj, seen) }
	}
	applyTo := func(w Writer, obj client.Object) error {
		return w.ApplyTo(t.Context(), obj, Seen{UID: "u1", ResourceVersion: "6"})
	}
	first := func(w Writer, obj client.Object) error { return w.Make(t.Context(), obj) }
	for what, c := range map[string]struct {
		there client.Object
		write func(Writer, client.Object) error
		want  []sent
		class fsm.ErrorClass
	}{
		"the child that was seen":       {named("u1", "o1"), apply("u1"), []sent{{"u1", "", false}, {"u1", "7", false}, {"u1", "7", true}}, fsm.Contested},
		"in the version that was seen":  {named("u1", "o1"), applyTo, []sent{{"u1", "6", false}, {"u1", "6", true}}, fsm.Contested},
		"another of ours, made anew":    {named("u2", "o1"), apply("u1"), []sent{{"u1", "", false}}, fsm.Changed},
		"one of ours, of another pass":  {named("u1", "o1"), first, []sent{{"", "", false}}, fsm.Changed},
		"one of a former lamp":          {former, apply(""), nil, fsm.Changed},
		"a stranger's that goes":        {going, first, []sent{{"", "", false}}, fsm.Changed},
		"a stranger's that was there":   {named("u2", ""), apply(""), nil, fsm.Refused},
		"a stranger's that came in now": {named("u2", ""), first, []sent{{"", "", false}}, fsm.Refused},
		"a stranger's in its place":     {named("u2", ""), apply("u1"), []sent{{"u1", "", false}}, fsm.Refused},
	} {
		var all []sent
		obj := named("", "o1")
		obj.SetResourceVersion("")
		err := c.write(recording(&all, byHand, c.there), obj)
		if fsm.ClassOf(err) != c.class || c.class == fsm.Refused && fsm.ReasonOf(err) != ReasonNameTaken {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(c.want, all); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// A version that is not the last one is a change, and no conflict between managers: who decided looks again.
func TestAVersionThatPassedIsAChange(t *testing.T) {
	var all []sent
	passed := apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "child", nil)
	err := recording(&all, passed).TakeOver(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "child"}}, Seen{UID: "u1", ResourceVersion: "7"})
	if fsm.ClassOf(err) != fsm.Changed || len(all) != 1 {
		t.Errorf("class %s after %d requests: %v", fsm.ClassOf(err), len(all), err)
	}
}
