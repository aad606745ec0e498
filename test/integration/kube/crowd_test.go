package kube

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	crowd    = 1000             // that change all the time, and as many that are new
	makers   = 8                // who make them
	attended = 10 * time.Second // within which a manager that starts has looked at all
)

// Objects that change all the time must not keep a manager that starts from those
// that were made while it was away.
func TestNewObjectsAreSeenAmongBusyOnes(t *testing.T) {
	b := bedtest.ControlPlane(t)
	prefix := bedtest.Namespace(t, b)
	m := product.NewManager(t, b, "capture")
	m.Start()
	hot := makeKeepers(t, b, prefix+"-hot")
	watchPhases(t, b, hot).wait(t)
	m.Stop()

	ctx, cool := context.WithCancel(t.Context())
	defer cool()
	patches := heat(ctx, t, b, hot)
	created := makeKeepers(t, b, prefix+"-new")
	seen := watchPhases(t, b, created)
	before, began := patches.Load(), time.Now()
	stall := harness.StartStall(t)
	m.Start()
	seen.wait(t)
	took := time.Since(began)
	if stalled := stall.Lap(); took > attended+stalled {
		t.Errorf("the last was seen after %s; the machine stood still for %s of it", took, stalled)
	}
	t.Logf("%d new objects among %d busy ones (%.0f writes a second): the last was seen %.2f s after the start",
		len(created), len(hot), float64(patches.Load()-before)/took.Seconds(), took.Seconds())
}

func makeKeepers(t *testing.T, b *bed.Bed, prefix string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	var g errgroup.Group
	g.SetLimit(makers)
	c := newClient(t, b.Config())
	for i := range crowd {
		name := fmt.Sprintf("%s-%d", prefix, i)
		names[name] = true
		g.Go(func() error { return c.Create(t.Context(), keeper(name)) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return names
}

// heat changes the objects in turn without end, two hundred times a second if the API
// server of a small machine has time for it beside what the manager asks of it.
func heat(ctx context.Context, t *testing.T, b *bed.Bed, names map[string]bool) *atomic.Int64 {
	t.Helper()
	patches := &atomic.Int64{}
	ended := make(chan error, 1)
	c := newClient(t, b.Config())
	go func() {
		every := time.NewTicker(5 * time.Millisecond)
		defer every.Stop()
		for round := 0; ctx.Err() == nil; round++ {
			for name := range names {
				<-every.C
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"round":"%d"}}}`, round)
				err := c.Patch(ctx, keeper(name), client.RawPatch(types.MergePatchType, []byte(patch)))
				if err != nil && ctx.Err() == nil {
					ended <- err
					return
				}
				patches.Add(1)
			}
		}
		ended <- nil
	}()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("heat: %v", err)
		}
	})
	return patches
}

// phases tells when the last of some keepers got its phase.
type phases struct {
	mu   sync.Mutex
	left map[string]bool
	all  chan struct{} // closed when none is left
}

// watchPhases begins to watch keepers.
func watchPhases(t *testing.T, b *bed.Bed, names map[string]bool) *phases {
	t.Helper()
	p := &phases{left: maps.Clone(names), all: make(chan struct{})}
	keepers, err := cache.New(b.Config(), cache.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	informer, err := keepers.GetInformer(t.Context(), &capturev1.ObjectKeeper{}, cache.BlockUntilSynced(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: p.see, UpdateFunc: func(_, now any) { p.see(now) },
	}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = keepers.Start(t.Context()) }() // it ends with the test
	if !keepers.WaitForCacheSync(t.Context()) {
		t.Fatal("cannot watch keepers")
	}
	return p
}

func (p *phases) see(obj any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k, is := obj.(*capturev1.ObjectKeeper); !is || k.Status.Phase == "" || !p.left[k.Name] {
		return
	} else if delete(p.left, k.Name); len(p.left) == 0 {
		close(p.all)
	}
}

// wait returns when all have a phase.
func (p *phases) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.all:
	case <-time.After(timeout.Wait):
		p.mu.Lock()
		defer p.mu.Unlock()
		t.Fatalf("%d objects have no phase after %s", len(p.left), timeout.Wait)
	}
}
