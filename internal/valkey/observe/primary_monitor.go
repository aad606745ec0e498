package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// notBefore is how long after it began a connection that ended is replaced by another: what ends
// every one of them, such as a limit to clients, would have servers looked at all the time.
const notBefore = EveryAtRest / 2

// PrimaryMonitor holds a connection to every primary, on which nothing is said, and tells when one ends:
// a primary that was killed is missed before its kubelet has noticed. It is no more than a reason
// to look, and may be lost.
type PrimaryMonitor struct {
	Watch func(ctx context.Context, cluster read.Key, addr string) error
	Lost  func(cluster read.Key)

	mu      sync.Mutex
	leading context.Context //nolint:containedctx // of those that are watched, which come and go
	held    map[read.Key]map[string]*watched
	all     sync.WaitGroup
}

type watched struct {
	began time.Time
	ended bool
	stop  context.CancelFunc
}

// Start lets Keep watch until ctx ends.
func (v *PrimaryMonitor) Start(ctx context.Context) error {
	v.mu.Lock()
	v.leading = ctx
	v.mu.Unlock()
	<-ctx.Done()
	v.mu.Lock()
	v.leading = nil // nobody is added from here on
	v.mu.Unlock()
	v.all.Wait()
	return nil
}

// SetPrimaries watches these addresses of a cluster, and no others any more.
func (v *PrimaryMonitor) SetPrimaries(cluster read.Key, addrs []string) {
	if v == nil {
		return // nobody is watched, and all is found out in time
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.leading == nil {
		return
	}
	held := v.held[cluster]
	for addr, w := range held {
		if !slices.Contains(addrs, addr) {
			w.stop()
			delete(held, addr)
		}
	}
	if len(addrs) == 0 {
		delete(v.held, cluster)
		return
	}
	for _, addr := range addrs {
		if w := held[addr]; w == nil || w.ended && time.Since(w.began) > notBefore {
			v.watch(cluster, addr)
		}
	}
}

func (v *PrimaryMonitor) watch(cluster read.Key, addr string) {
	ctx, stop := context.WithCancel(v.leading)
	w := &watched{began: time.Now(), stop: stop}
	if v.held == nil {
		v.held = map[read.Key]map[string]*watched{}
	}
	if v.held[cluster] == nil {
		v.held[cluster] = map[string]*watched{}
	}
	v.held[cluster][addr] = w
	v.all.Go(func() {
		defer stop()
		err := v.Watch(ctx, cluster, addr)
		v.mu.Lock()
		w.ended = true
		v.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			v.Lost(cluster)
		}
	})
}
