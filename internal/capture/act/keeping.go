package act

import (
	"context"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// createKeeper makes the keeper of a request and returns its UID. A keeper of that name is
// ours if it follows the same request: then an earlier pass made it, and crashed.
func createKeeper(ctx context.Context, w kube.Writer, k *capturev1.ObjectKeeper) (string, error) {
	there := &capturev1.ObjectKeeper{}
	err := w.CreateUnowned(ctx, k, there, func() bool { return request.Follows(there, k.Spec.FollowRef.UID) })
	return string(k.UID), err
}
