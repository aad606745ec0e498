package kube

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// byOwner wakes whom a label names.
func byOwner(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	return []read.Key{{Name: obj.GetLabels()["of"]}}
}

func TestWakesMatchTheTable(t *testing.T) {
	declared := []fsm.Wake{{Name: "pods", By: fsm.ByWatch}, {Name: "work", By: fsm.ByWorker}, {Name: "clock", By: fsm.ByTimer, Every: 1}}
	pods, work := Wake{Name: "pods", Of: &corev1.Pod{}, Find: byOwner}, Wake{Name: "work", Waker: &Waker{}}
	if err := CheckWakes(declared, []Wake{pods, work}); err != nil {
		t.Error(err)
	}
	optional := Wake{Name: "pods", Optional: []schema.GroupVersionKind{}, Find: byOwner, Waker: &Waker{}}
	if err := CheckWakes(declared, []Wake{optional, work}); err != nil {
		t.Error(err)
	}
	for want, made := range map[string][]Wake{
		"wake work by Worker: set up false":       {pods},
		"wake clock by Timer: set up true":        {pods, work, {Name: "clock", Waker: &Waker{}}},
		"wake mice is not in the machine's table": {pods, work, {Name: "mice", Waker: &Waker{}}},
		"wake pods needs a watch":                 {{Name: "pods", Of: &corev1.Pod{}}, work},
		"wake work needs a watch":                 {pods, {Name: "work"}},
	} {
		if err := CheckWakes(declared, made); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestAChangeWakesWhomItLeftAndWhomItCameTo(t *testing.T) {
	pod := func(of string) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"of": of}}}
	}
	w := Wake{Find: byOwner}
	for what, c := range map[string]struct {
		was, is client.Object
		silent  bool
		want    []read.Key
	}{
		"made":           {nil, pod("a"), false, []read.Key{{Name: "a"}}},
		"made by itself": {nil, pod("a"), true, nil},
		"changed":        {pod("a"), pod("a"), true, []read.Key{{Name: "a"}}},
		"given away":     {pod("a"), pod("b"), false, []read.Key{{Name: "a"}, {Name: "b"}}},
		"gone":           {pod("a"), nil, true, []read.Key{{Name: "a"}}},
	} {
		w.Silent = c.silent
		if diff := cmp.Diff(c.want, w.Keys(t.Context(), nil, c.was, c.is)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

func TestAChildWakesWhoControlsIt(t *testing.T) {
	lamp := schema.GroupVersionKind{Group: "test.statecraft.dev", Version: "v1alpha1", Kind: "Lamp"}
	w, owner := Child(&corev1.Pod{}, lamp), &metav1.ObjectMeta{Name: "lamp", UID: "1"}
	of := func(gvk schema.GroupVersionKind) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "room", Name: "bulb", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, gvk)},
		}}
	}
	if diff := cmp.Diff([]read.Key{{Namespace: "room", Name: "lamp"}}, w.Keys(t.Context(), nil, of(lamp), nil)); diff != "" {
		t.Error(diff)
	}
	if keys := w.Keys(t.Context(), nil, nil, of(lamp)); keys != nil {
		t.Errorf("a child that was just made wakes %v", keys)
	}
	other := lamp
	other.Group = "example.com"
	for _, obj := range []client.Object{of(other), &corev1.Pod{}} {
		if keys := w.Keys(t.Context(), nil, obj, obj); keys != nil {
			t.Errorf("a child of somebody else wakes %v", keys)
		}
	}
}

func TestALeaseWakesByItsTarget(t *testing.T) {
	target := reserve.Ref{Kind: "Lamp.test.statecraft.dev", Namespace: "room", Name: "lamp", UID: "1"}
	w := Reserved(func(_ context.Context, _ read.Reader, of reserve.Ref) []read.Key {
		return []read.Key{{Namespace: of.Namespace, Name: of.Name}}
	})
	lease := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{reservationTarget: target.String()}}}
	if diff := cmp.Diff([]read.Key{{Namespace: "room", Name: "lamp"}}, w.Keys(t.Context(), nil, nil, lease)); diff != "" {
		t.Error(diff)
	}
	if keys := w.Keys(t.Context(), nil, nil, &metav1.PartialObjectMetadata{}); keys != nil {
		t.Errorf("a Lease of somebody else wakes %v", keys)
	}
}
