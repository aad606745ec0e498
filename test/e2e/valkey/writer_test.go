package valkey

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	writesPerSecond = 2000
	writers         = 16
	keysEach        = 500 // of each writer
	answersWithin   = 10 * time.Second
	readers         = 64
	readWithin      = time.Minute // all keys: of a cluster that nobody mends most time out
)

// writer writes to a cluster as an application does, with the client's own retries, and
// remembers for every key the last write that was acknowledged.
type writer struct {
	client valkey.Client
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	acked    map[string]int
	failures []string
	took     []time.Duration
	longest  time.Duration
}

// startWriter begins to write, through any server of the cluster.
func startWriter(t *testing.T, addr string) *writer {
	t.Helper()
	return startWriterWith(t, valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
}

func startWriterWith(t *testing.T, option valkey.ClientOption) *writer {
	t.Helper()
	client, err := valkey.NewClient(option)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{client: client, cancel: cancel, acked: map[string]int{}}
	t.Cleanup(func() { w.stop(); client.Close() })
	own := rand.Text() // two writers of one cluster do not share keys
	limit := rate.NewLimiter(writesPerSecond, writers)
	for i := range writers {
		w.done.Go(func() {
			for n := 1; limit.Wait(ctx) == nil; n++ {
				w.write(fmt.Sprintf("%s-%d-%d", own, i, n%keysEach), n)
			}
		})
	}
	return w
}

// write writes once. Writes outlive the end of the writer: half of one proves nothing.
func (w *writer) write(key string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	began := time.Now()
	err := w.client.Do(ctx, w.client.B().Set().Key(key).Value(strconv.Itoa(n)).Build()).Error()
	took := time.Since(began)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failures = append(w.failures, fmt.Sprintf("%s after %s: %v", key, took.Round(time.Millisecond), err))
		return
	}
	w.acked[key], w.longest = n, max(w.longest, took)
	w.took = append(w.took, took)
}

func (w *writer) stop() {
	w.cancel()
	w.done.Wait()
}

// count is how many writes were acknowledged so far.
func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.took)
}

// await waits for so many acknowledged writes.
func (w *writer) await(t *testing.T, writes int) {
	t.Helper()
	harness.Eventually(t, runningWithin, poll, func() error {
		if n := w.count(); n < writes {
			return fmt.Errorf("%d writes", n)
		}
		return nil
	})
}

// reconnect reads through another server: nobody that the client knows is where it was.
func (w *writer) reconnect(t *testing.T, addr string) {
	t.Helper()
	w.reconnectWith(t, valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
}

func (w *writer) reconnectWith(t *testing.T, option valkey.ClientOption) {
	t.Helper()
	client, err := valkey.NewClient(option)
	if err != nil {
		t.Fatal(err)
	}
	w.client.Close()
	w.client = client
}

// check ends the writer, and nothing may have been lost or refused.
func (w *writer) check(t *testing.T) {
	t.Helper()
	lost := w.report(t)
	if len(lost) > 0 {
		t.Errorf("lost, among others: %v", lost[:min(3, len(lost))])
	}
	if len(w.failures) > 0 {
		t.Errorf("failed, among others: %v", w.failures[:min(3, len(w.failures))])
	}
}

// report ends the writer and reads back every key. A value that is newer than the last
// acknowledged one is that of a write whose answer was lost. What cannot be read is as
// good as lost to whoever wants it now.
func (w *writer) report(t *testing.T) (lost []string) {
	t.Helper()
	w.stop()
	unreadable := 0
	all, cancel := context.WithTimeout(t.Context(), readWithin)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(readers)
	for key, n := range w.acked {
		g.Go(func() error {
			got, err := w.read(all, key)
			w.mu.Lock()
			defer w.mu.Unlock()
			if err != nil && !errors.Is(err, valkey.Nil) {
				unreadable++
			}
			if err != nil && !errors.Is(err, valkey.Nil) || int(got) < n {
				lost = append(lost, fmt.Sprintf("%s: acknowledged %d, read %d, %v", key, n, got, err))
			}
			return nil
		})
	}
	_ = g.Wait() // they return none
	slices.Sort(w.took)
	at := func(part float64) time.Duration {
		return w.took[int(part*float64(len(w.took)-1))].Round(100 * time.Microsecond)
	}
	harness.Row(t, "%d writes, %d lost, %d failed%s; p50 %s, p99 %s, p99.9 %s, at most %s",
		len(w.took), len(lost)-unreadable, len(w.failures), note(unreadable), at(0.5), at(0.99), at(0.999), w.longest.Round(time.Millisecond))
	return lost
}

func (w *writer) read(ctx context.Context, key string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	return w.client.Do(ctx, w.client.B().Get().Key(key).Build()).AsInt64()
}

func note(unreadable int) string {
	if unreadable == 0 {
		return ""
	}
	return fmt.Sprintf(", %d keys cannot be read", unreadable)
}

// addr is where the first server of a cluster listens.
func (s *stage) addr(vkc *valkeyv1.ValkeyCluster) string {
	s.T.Helper()
	ip, err := s.Bed.Kubectl(s.T.Context(), "get", "pod", "-n", vkc.Namespace, vkc.Name+"-0-0", "-o", "jsonpath={.status.podIP}")
	if err != nil {
		s.T.Fatal(err)
	}
	return net.JoinHostPort(ip, strconv.Itoa(valkeyv1.ClientPort))
}
