package sim

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Watch stands for the kube.OptionalWatch of the process. The first look at a kind
// finds it not synced, as after a start.
func (c *Cell) Watch() read.Watch { return watch{c} }

type watch struct{ *Cell }

// Look implements read.Watch. A watch may break, so a look may be struck: then,
// and whenever it cannot be read, it is Unknown.
func (w watch) Look(gvk schema.GroupVersionKind, key read.Key) (obj *metav1.PartialObjectMetadata, sight read.Sight) {
	if !w.begun(gvk) {
		return nil, read.SightNotYet
	}
	err := w.cross(context.Background(), op{site: "look " + gvk.Kind, kind: liveRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		if err := w.run.learn(ctx, Ref{gvk, key}); err != nil {
			return nil, err
		}
		is := w.recall(Ref{gvk, key})
		if is == nil {
			sight = read.SightAbsent
			return nil, nil
		}
		obj, sight = &metav1.PartialObjectMetadata{}, read.SightHere
		return nil, fill(obj, is)
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
	w.synced[gvk] = true
	return begun
}
