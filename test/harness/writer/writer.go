// Package writer writes to a Valkey cluster as an application does, and finds what was lost.
package writer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Keys is how many keys a writer writes.
const Keys = writers * keysEach

// AnswersWithin is how long an application waits for an answer.
const AnswersWithin = 10 * time.Second

const (
	writesPerSecond = 2000
	writers         = 16
	keysEach        = 500 // of each writer
	readers         = 64
	poll            = 50 * time.Millisecond
	readWithin      = time.Minute // all keys: of a cluster that nobody mends most time out
)

// Writer writes to a cluster as an application does, with the client's own retries, and
// remembers for every key the last write that was acknowledged.
type Writer struct {
	client valkey.Client
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	acked    map[string]int
	failures []string
	took     []time.Duration
	longest  time.Duration
}

// Start begins to write, through any server of the cluster.
func Start(t *testing.T, addr string) *Writer {
	t.Helper()
	return StartWith(t, valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
}

// StartWith begins to write, with a client of the test's own making.
func StartWith(t *testing.T, option valkey.ClientOption) *Writer {
	t.Helper()
	client, err := valkey.NewClient(option)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Writer{client: client, cancel: cancel, acked: map[string]int{}}
	t.Cleanup(func() { w.Stop(); client.Close() })
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
func (w *Writer) write(key string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), AnswersWithin)
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

// Stop ends the writer, once what it has begun is answered.
func (w *Writer) Stop() {
	w.cancel()
	w.done.Wait()
}

// Count is how many writes were acknowledged so far.
func (w *Writer) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.took)
}

// Await waits for so many acknowledged writes.
func (w *Writer) Await(t *testing.T, writes int) {
	t.Helper()
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if n := w.Count(); n < writes {
			return fmt.Errorf("%d writes", n)
		}
		return nil
	})
}

// Reconnect reads through another server: nobody that the client knows is where it was.
func (w *Writer) Reconnect(t *testing.T, addr string) {
	t.Helper()
	w.ReconnectWith(t, valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
}

// ReconnectWith reads with another client.
func (w *Writer) ReconnectWith(t *testing.T, option valkey.ClientOption) {
	t.Helper()
	client, err := valkey.NewClient(option)
	if err != nil {
		t.Fatal(err)
	}
	w.client.Close()
	w.client = client
}

// Check ends the writer, and nothing may have been lost or refused.
func (w *Writer) Check(t *testing.T) {
	t.Helper()
	lost := w.Report(t)
	if len(lost) > 0 {
		t.Errorf("lost, among others: %v", lost[:min(3, len(lost))])
	}
	if len(w.failures) > 0 {
		t.Errorf("failed, among others: %v", w.failures[:min(3, len(w.failures))])
	}
}

// Report ends the writer and reads back every key. A value that is newer than the last
// acknowledged one is that of a write whose answer was lost. What cannot be read is as
// good as lost to whoever wants it now.
func (w *Writer) Report(t *testing.T) (lost []string) {
	t.Helper()
	w.Stop()
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

func (w *Writer) read(ctx context.Context, key string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, AnswersWithin)
	defer cancel()
	return w.client.Do(ctx, w.client.B().Get().Key(key).Build()).AsInt64()
}

func note(unreadable int) string {
	if unreadable == 0 {
		return ""
	}
	return fmt.Sprintf(", %d keys cannot be read", unreadable)
}
