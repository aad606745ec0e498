package valkey

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	fleetRounds  = 4
	fleetSlower  = 250 * time.Millisecond // noise of a busy machine
	fleetEditing = time.Minute
)

// TestUnreachableClustersHoldNobodyUp edits clusters and measures how long each takes to answer the edit in its status:
// first while others rest, then while all servers of those are behind dead links.
func TestUnreachableClustersHoldNobodyUp(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	namespace := bedtest.Namespace(t, b)
	f := newFleet(t, b)
	f.startManager(t, b, thisVersion(), namespace)
	size, unreachable := harness.ByLevel(24, 50), harness.ByLevel(12, 20)
	f.grow(t, namespace, size)

	var alive, dead []string
	for i := range size {
		if name := fmt.Sprintf("fleet-%d", i); i < unreachable {
			dead = append(dead, name)
		} else {
			alive = append(alive, name)
		}
	}
	without := f.edits(t, namespace, alive)
	f.setUnreachable(dead...)
	harness.Eventually(t, fleetWithin, fleetLooks, func() error { // they are known to be unreachable
		f.node.Beat(t.Context())
		if asked := f.askedInVain(); asked < len(dead) {
			return fmt.Errorf("%d of %d are known to be unreachable", asked, len(dead))
		}
		return nil
	})
	with := f.edits(t, namespace, alive)
	harness.Row(t, "an edit is answered by %d clusters in %s (median) and %s (99 of 100); while %d others are unreachable in %s and %s",
		len(alive), percentile(without, 50), percentile(without, 99), len(dead), percentile(with, 50), percentile(with, 99))
	if slow, fast := percentile(with, 99), percentile(without, 99); slow > 2*fast+fleetSlower {
		t.Errorf("with unreachable clusters an edit takes %s, without %s", slow, fast)
	}
}

// edits edits clusters all at once, in rounds, and returns how long each took to be answered.
func (f *fleet) edits(t *testing.T, namespace string, names []string) (took []time.Duration) {
	t.Helper()
	for round := range fleetRounds {
		var all sync.WaitGroup
		var mu sync.Mutex
		f.node.Beat(t.Context())
		for _, name := range names {
			all.Go(func() {
				d, err := f.edit(t.Context(), namespace, name, round%2 == 0)
				mu.Lock()
				defer mu.Unlock()
				if took = append(took, d); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	return took
}

// edit pauses a cluster, or lets it go on, and waits until its status is about that.
func (f *fleet) edit(ctx context.Context, namespace, name string, paused bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, fleetEditing)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"paused": paused}})
	if err != nil {
		return 0, err
	}
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	began := time.Now()
	if err := f.Patch(ctx, c, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return 0, err
	}
	for wanted := c.Generation; c.Status.ObservedGeneration < wanted; {
		if err := f.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return time.Since(began), fmt.Errorf("%s does not answer: %w", name, err)
		}
		<-time.After(10 * time.Millisecond)
	}
	return time.Since(began), nil
}

func percentile(all []time.Duration, of int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)*of/100].Round(time.Millisecond)
}
