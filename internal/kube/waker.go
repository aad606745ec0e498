package kube

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Waker wakes objects from outside of any watch: a worker that ended, a sample
// that changed. It is a source of the controller and adds to its queue directly,
// so a wake neither blocks nor piles up: the queue keeps each key once.
type Waker struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Start implements source.Source.
func (w *Waker) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
	return nil
}

// Wake has the object looked at soon. Before the controller has started it does
// nothing: every object is looked at then anyway.
func (w *Waker) Wake(key read.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.Add(reconcile.Request{NamespacedName: key})
	}
}
