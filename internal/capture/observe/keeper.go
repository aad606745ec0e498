// Package observe reads the worlds of area capture. It is handed readers only.
package observe

import (
	"context"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// syncing is how soon a keeper looks again while the watch of a kind begins.
const syncing = 250 * time.Millisecond

// Keeper observes what a keeper follows.
type Keeper struct {
	Watch  read.Watch // of names and UIDs, per followed kind
	Live   read.Live
	Mapper apimeta.RESTMapper
}

// Observe looks at the watch first: a followed object that is there costs no
// request. Only what the watch lacks is read live, and only a live read says Gone.
func (o Keeper) Observe(ctx context.Context, k *capturev1.ObjectKeeper) (keeper.World, error) {
	ref := k.Spec.FollowRef
	if ref == nil {
		return keeper.World{}, nil
	}
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	there, sight := o.Watch.Look(gvk, read.Key{Namespace: ref.Namespace, Name: ref.Name})
	switch {
	case sight == read.SightNotYet:
		return keeper.World{}, &read.NotYet{What: "watch of " + ref.Kind, After: syncing}
	case sight == read.SightHere && there.UID == ref.UID && k.Status.Phase != keeper.Expiring:
		return keeper.World{Followed: presence.Here}, nil
	}
	return o.live(ctx, k, gvk)
}

// live reads the object, and if it is gone also its kind and its namespace: in
// that order, or a kind that is being removed could pass for one that is not.
func (o Keeper) live(ctx context.Context, k *capturev1.ObjectKeeper, gvk schema.GroupVersionKind) (keeper.World, error) {
	ref := k.Spec.FollowRef
	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(gvk)
	key := read.Key{Namespace: ref.Namespace, Name: ref.Name}
	switch is, err := read.Find(ctx, o.Live, key, obj, func(obj *metav1.PartialObjectMetadata) bool { return obj.UID == ref.UID }); {
	case err != nil:
		return unknown(read.Blindness(err)), nil
	case is == presence.Here:
		return keeper.World{Followed: is, Live: true}, nil
	}
	if why, err := o.kindRemoved(ctx, k, gvk); err != nil {
		return keeper.World{}, err
	} else if why != "" {
		return unknown(why), nil
	}
	state, err := o.namespace(ctx, ref)
	if err != nil {
		return keeper.World{}, err
	}
	return keeper.World{Followed: presence.Gone, Live: true, Namespace: state}, nil
}

func unknown(why presence.Blindness) keeper.World {
	return keeper.World{Followed: presence.Unknown, Why: why, Live: true}
}

// namespace is the state of the followed object's namespace.
func (o Keeper) namespace(ctx context.Context, ref *capturev1.FollowRef) (keeper.Namespace, error) {
	if ref.Namespace == "" {
		return keeper.Living, nil
	}
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	err := o.Live.Get(ctx, read.Key{Name: ref.Namespace}, ns)
	switch {
	case read.SaysGone(err, ref.Namespace):
		return keeper.Ending, nil
	case err != nil:
		return "", fmt.Errorf("read namespace %s: %w", ref.Namespace, err)
	case ns.DeletionTimestamp != nil, ref.NamespaceUID != "" && ns.UID != ref.NamespaceUID:
		return keeper.Ending, nil
	}
	return keeper.Living, nil
}
