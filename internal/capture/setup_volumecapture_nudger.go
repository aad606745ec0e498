package capture

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

const (
	nudgeTimeout    = 10 * time.Second
	firstNudgeRetry = time.Second
	lastNudgeRetry  = time.Minute
)

// deletionNudger looks at contents that are being deleted, one after the other: there are few.
type deletionNudger struct {
	reconciler reconcile.Reconciler
	queue      workqueue.TypedRateLimitingInterface[string]
}

func newDeletionNudger(reconciler reconcile.Reconciler) *deletionNudger {
	return &deletionNudger{reconciler, workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstNudgeRetry, lastNudgeRetry))}
}

// enqueue notes a content that is being deleted.
func (k *deletionNudger) enqueue(gvk schema.GroupVersionKind, obj *metav1.PartialObjectMetadata) {
	if gvk.Kind == "VolumeSnapshotContent" && obj.DeletionTimestamp != nil {
		k.queue.Add(obj.Name)
	}
}

// run looks until ctx ends.
func (k *deletionNudger) run(ctx context.Context) error {
	go func() {
		<-ctx.Done()
		k.queue.ShutDown()
	}()
	for {
		name, over := k.queue.Get()
		if over {
			return nil
		}
		k.look(ctx, name)
		k.queue.Done(name)
	}
}

func (k *deletionNudger) look(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, nudgeTimeout)
	defer cancel()
	result, err := k.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: read.Key{Name: name}})
	if err != nil {
		logr.FromContextOrDiscard(ctx).Info("content was not looked at", "content", name, "error", err.Error())
		k.queue.AddRateLimited(name)
		return
	}
	k.queue.Forget(name)
	if result.RequeueAfter > 0 {
		k.queue.AddAfter(name, result.RequeueAfter)
	}
}
