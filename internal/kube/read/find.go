package read

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Find reads the object of a name live, into obj, and says whether it is there. Whether it is
// the one that is meant, ours says, which may be nil: names are used again. A read that failed
// says nothing, so the error is returned, and the presence is Unknown.
func Find[T client.Object](ctx context.Context, l Live, key Key, obj T, ours func(T) bool) (presence.State, error) {
	switch err := l.Get(ctx, key, obj); {
	case SaysGone(err, key.Name):
		return presence.Gone, nil
	case err != nil:
		return presence.Unknown, fmt.Errorf("read %T %s: %w", obj, key, err)
	case ours != nil && !ours(obj):
		return presence.Other, nil
	}
	return presence.Here, nil
}

// Is says that an object is the one with this UID; that of "" is any.
func Is[T client.Object](uid types.UID) func(T) bool {
	return func(obj T) bool { return uid == "" || obj.GetUID() == uid }
}

// Blindness is why a read failed.
func Blindness(err error) presence.Blindness {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return presence.Forbidden
	case apimeta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return presence.Unserved
	}
	return presence.Unreadable
}
