package kube

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

// What was decided about one version is not saved over another, whatever changed.
func TestSaveConflictsWhenTheObjectChanged(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	for what, patch := range map[string]string{
		"spec":     `{"spec":{"wish":"theirs"}}`,
		"metadata": `{"metadata":{"annotations":{"theirs":"1"}}}`,
	} {
		lamp := create(t, c, lampOf(namespace, what))
		store := kube.NewStore[*kubetest.Lamp](c, c)
		was, found, err := store.Get(t.Context(), client.ObjectKeyFromObject(lamp))
		if err != nil || !found {
			t.Fatalf("found %v: %v", found, err)
		}
		if err := c.Patch(t.Context(), lamp, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
		next := was.DeepCopy()
		next.Status.Phase = on
		if err := store.Save(t.Context(), was, next); !apierrors.IsConflict(err) {
			t.Errorf("%s changed, and yet: %v", what, err)
		}
		unchanged(t, c, lamp)
	}
}

func TestSaveWritesStatusOnly(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	was := create(t, c, lampOf(namespace, "lamp"))
	next := was.DeepCopy()
	next.Status.Phase, next.Status.Seen = on, "dark"
	next.Spec.Wish = "a user's business"
	if err := kube.NewStore[*kubetest.Lamp](c, c).Save(t.Context(), was, next); err != nil {
		t.Fatal(err)
	}
	if now := get(t, c, was.DeepCopy()); now.Status.Phase != on || now.Spec.Wish != "" || now.Generation != was.Generation {
		t.Errorf("%+v", now)
	}
}
