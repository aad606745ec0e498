package kube

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const cleansUp = "test.statecraft.dev/cleans-up"

func TestFinalizersArePutOnAndTakenOffAsSeen(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	w, ctx := envOf(c, namespace).Writer("test"), t.Context()
	lamp := lampOf(namespace, "lamp")
	lamp.Finalizers = []string{"example.com/theirs"}
	create(t, c, lamp)

	stale := lamp.DeepCopy()
	if err := w.AddFinalizer(ctx, lamp, cleansUp); err != nil {
		t.Fatal(err)
	}
	if get(t, c, lamp); !slices.Equal(lamp.Finalizers, []string{"example.com/theirs", cleansUp}) {
		t.Fatalf("finalizers: %v", lamp.Finalizers)
	}
	before := lamp.ResourceVersion
	if err := w.AddFinalizer(ctx, lamp, cleansUp); err != nil || get(t, c, lamp).ResourceVersion != before {
		t.Errorf("put on twice: %v", err)
	}
	for what, err := range map[string]error{
		"put on":    w.AddFinalizer(ctx, stale, "test.statecraft.dev/other"),
		"taken off": w.RemoveFinalizer(ctx, stale, "example.com/theirs"),
	} {
		if fsm.ClassOf(err) != fsm.Changed || !apierrors.IsConflict(err) {
			t.Errorf("%s what has changed since: %v", what, err)
		}
	}
	if err := c.Delete(ctx, lamp); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveFinalizer(ctx, get(t, c, lamp), cleansUp); err != nil {
		t.Fatal(err)
	}
	if get(t, c, lamp); !slices.Equal(lamp.Finalizers, []string{"example.com/theirs"}) {
		t.Errorf("took off more than its own: %v", lamp.Finalizers)
	}
	last := lamp.DeepCopy()
	if err := w.RemoveFinalizer(ctx, lamp, "example.com/theirs"); err != nil {
		t.Fatal(err)
	}
	if err := harness.Gone(ctx, c, lamp); err != nil {
		t.Error(err)
	}
	anew := create(t, c, lampOf(namespace, "lamp"))
	if err := w.RemoveFinalizer(ctx, last, "example.com/theirs"); err != nil {
		t.Errorf("the object is gone, and its finalizer with it: %v", err)
	}
	unchanged(t, c, anew)
}

func TestAFinalizerHasABoundedExit(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	cm := &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "cm", nil)}
	cm.Finalizers = []string{cleansUp}
	create(t, c, cm)
	if at := kube.ExitBy(cm, time.Minute); !at.IsZero() {
		t.Errorf("nobody deletes it, and yet by %s", at)
	}
	if err := c.Delete(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	get(t, c, cm)
	if at := kube.ExitBy(cm, time.Minute); !at.Equal(cm.DeletionTimestamp.Add(time.Minute)) {
		t.Errorf("deleted at %s, off by %s", cm.DeletionTimestamp, at)
	}
	if err := envOf(c, namespace).Writer("test").RemoveFinalizer(t.Context(), cm, cleansUp); err != nil {
		t.Fatal(err)
	}
}
