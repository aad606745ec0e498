package observe

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Keeping looks for the keeper of a request.
type Keeping struct {
	Cached read.Reader
	Live   read.Live
}

// Look reads the cache first; only a live read says that there is none, or that somebody
// else took its name.
func (o Keeping) Look(ctx context.Context, obj metav1.Object) (request.Keeping, error) {
	var k capturev1.ObjectKeeper
	key := read.Key{Name: request.KeeperName(obj.GetUID())}
	if err := o.Cached.Get(ctx, key, &k); err == nil && request.Follows(&k, obj.GetUID()) {
		return ours(&k), nil
	}
	k = capturev1.ObjectKeeper{}
	is, err := read.Find(ctx, o.Live, key, &k, func(k *capturev1.ObjectKeeper) bool { return request.Follows(k, obj.GetUID()) })
	switch {
	case err != nil:
		return request.Keeping{}, err
	case is == presence.Gone:
		return o.missing(ctx, obj)
	case is == presence.Other:
		return request.Keeping{Sight: is}, nil
	}
	return ours(&k), nil
}

func ours(k *capturev1.ObjectKeeper) request.Keeping {
	return request.Keeping{Sight: presence.Here, UID: k.UID, Made: k.CreationTimestamp, Namespace: k.Spec.FollowRef.NamespaceUID}
}

// missing reads what a new keeper must know of the namespace.
func (o Keeping) missing(ctx context.Context, obj metav1.Object) (request.Keeping, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err := o.Live.Get(ctx, read.Key{Name: obj.GetNamespace()}, ns); err != nil {
		return request.Keeping{}, fmt.Errorf("read namespace %s: %w", obj.GetNamespace(), err)
	}
	return request.Keeping{Sight: presence.Gone, Namespace: ns.UID}, nil
}
