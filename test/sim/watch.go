package sim

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Watch stands for the kube.OptionalWatch of the process. The first look at a kind
// finds it not synced, as after a start.
func (c *Cell) Watch() read.Watch { return watch{c} }

type watch struct{ *Cell }

// Look implements read.Watch. That it cannot be read, for whatever reason, is Unknown.
func (w watch) Look(gvk schema.GroupVersionKind, key read.Key) (obj *metav1.PartialObjectMetadata, sight read.Sight) {
	if !w.begun(gvk) {
		return nil, read.SightNotYet
	}
	err := w.cross(context.Background(), op{site: "look " + gvk.Kind, kind: cachedRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		var err error
		obj, sight, err = w.look(ctx, gvk, key)
		return nil, err
	}})
	if err != nil {
		return nil, read.SightUnknown
	}
	return obj, sight
}

func (w watch) begun(gvk schema.GroupVersionKind) bool {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	begun := w.warm || w.synced[gvk]
	if w.synced == nil {
		w.Cell.synced = map[schema.GroupVersionKind]bool{}
	}
	w.synced[gvk] = true
	return begun
}

func (w watch) look(ctx context.Context, gvk schema.GroupVersionKind, key read.Key) (*metav1.PartialObjectMetadata, read.Sight, error) {
	obj := &metav1.PartialObjectMetadata{}
	if was, old := w.recall(Ref{gvk, key}); old {
		if was == nil {
			return nil, read.SightAbsent, nil
		}
		return obj, read.SightHere, fill(obj, was)
	}
	obj.SetGroupVersionKind(gvk)
	err := w.run.lab.actor.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) {
		return nil, read.SightAbsent, nil
	}
	return obj, read.SightHere, err
}
