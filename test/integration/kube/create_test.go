package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// children makes one child of a built-in kind, which is read as protobuf, and one
// of a custom kind, which is read as JSON: decoding differs.
var children = map[string]func(namespace string, owner *kubetest.Lamp) client.Object{
	"ConfigMap": func(namespace string, owner *kubetest.Lamp) client.Object {
		return &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "child", owner), Data: map[string]string{"a": "1"}}
	},
	"Lamp": func(namespace string, owner *kubetest.Lamp) client.Object {
		return &kubetest.Lamp{ObjectMeta: objectMeta(namespace, "child", owner), Spec: kubetest.LampSpec{Wish: "on"}}
	},
}

func TestCreateAfterALostAnswerFindsItsOwnChild(t *testing.T) {
	b := lamps(t)
	c := newClient(t, b.Config())
	for kind, child := range children {
		t.Run(kind, func(t *testing.T) {
			namespace := bedtest.Namespace(t, b)
			owner := create(t, c, lampOf(namespace, "owner"))
			w := envOf(c, namespace).Writer("test")

			first := child(namespace, owner)
			if err := w.Create(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			second := child(namespace, owner) // the first answer was lost: nothing is known of it
			if err := w.Create(t.Context(), second); err != nil {
				t.Fatal(err)
			}
			if second.GetUID() != first.GetUID() || second.GetUID() == "" || second.GetResourceVersion() == "" {
				t.Errorf("found %q, made %q", second.GetUID(), first.GetUID())
			}
		})
	}
}

func TestCreateRefusesATakenName(t *testing.T) {
	b := lamps(t)
	c := newClient(t, b.Config())
	for kind, child := range children {
		for whose, say := range map[string]string{
			"nobody":  kind + " child exists and is controlled by no controller: remove or rename it.",
			"another": kind + " child exists and is controlled by Lamp another: remove or rename it.",
		} {
			t.Run(kind+" of "+whose, func(t *testing.T) {
				namespace := bedtest.Namespace(t, b)
				owner, another := create(t, c, lampOf(namespace, "owner")), (*kubetest.Lamp)(nil)
				if whose == "another" {
					another = create(t, c, lampOf(namespace, "another"))
				}
				squatter := create(t, c, child(namespace, another))
				err := envOf(c, namespace).Writer("test").Create(t.Context(), child(namespace, owner))
				if fsm.ClassOf(err) != fsm.Refused || fsm.StatusMessage(err) != say {
					t.Errorf("class %s, says %q", fsm.ClassOf(err), fsm.StatusMessage(err))
				}
				unchanged(t, c, squatter)
			})
		}
	}
}

// unchanged says that nobody has written to obj.
func unchanged(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if now := get(t, c, obj.DeepCopyObject().(client.Object)); now.GetResourceVersion() != obj.GetResourceVersion() || now.GetUID() != obj.GetUID() {
		t.Errorf("%s was written to: %+v", obj.GetName(), now)
	}
}

func TestDeleteRemovesOnlyWhatWasSeen(t *testing.T) {
	b := lamps(t)
	c := newClient(t, b.Config())
	namespace := bedtest.Namespace(t, b)
	w := envOf(c, namespace).Writer("test")

	t.Run("not seen", func(t *testing.T) {
		cm := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "unseen", nil)})
		for _, seen := range []kube.Seen{{}, {UID: cm.UID}, {ResourceVersion: cm.ResourceVersion}} {
			if err := w.Delete(t.Context(), cm, seen); fsm.ClassOf(err) != fsm.Refused || !strings.Contains(err.Error(), "not seen") {
				t.Errorf("%+v: %v", seen, err)
			}
		}
		unchanged(t, c, cm)
	})
	t.Run("seen", func(t *testing.T) {
		cm := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "seen", nil)})
		for range 2 { // the second time it is gone already
			if err := w.Delete(t.Context(), cm, kube.SeenOf(cm)); err != nil {
				t.Error(err)
			}
		}
		if err := harness.Gone(t.Context(), c, cm); err != nil {
			t.Error(err)
		}
	})
	t.Run("changed since", func(t *testing.T) {
		cm := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "changed", nil)})
		seen := kube.SeenOf(cm)
		cm.Data = map[string]string{"b": "2"}
		if err := c.Update(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		if err := w.Delete(t.Context(), cm, seen); fsm.ClassOf(err) != fsm.Changed || !apierrors.IsConflict(err) {
			t.Errorf("class %s: %v", fsm.ClassOf(err), err)
		}
		unchanged(t, c, cm)
	})
	t.Run("made anew since", func(t *testing.T) {
		cm := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "anew", nil)})
		seen := kube.SeenOf(cm)
		if err := c.Delete(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		anew := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "anew", nil)})
		if err := w.Delete(t.Context(), cm, seen); err != nil {
			t.Errorf("what was to go has gone, and yet: %v", err)
		}
		unchanged(t, c, anew)
	})
}
