package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// journal is what jobs did and who was woken, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) write(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// job gives so many commands, each of which takes a second unless it is stopped.
func (j *journal) job(name string, commands int, ends error) Job[string] {
	given := 0
	return func(ctx context.Context) (string, bool, error) {
		given++
		j.write("%s %d", name, given)
		select {
		case <-ctx.Done():
			j.write("%s stopped", name)
			return "", false, ctx.Err()
		case <-time.After(time.Second):
		}
		if given == commands {
			return name + " done", true, ends
		}
		return "", false, nil
	}
}

// withWorker runs a test on a fake clock; lead starts the worker, the result ends it.
func withWorker(t *testing.T, test func(t *testing.T, w *Worker[string], j *journal, lead func() (lose func()))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		w := &Worker[string]{Wake: func(key read.Key) { j.write("wake %s", key.Name) }}
		test(t, w, j, func() func() {
			ctx, lose := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- w.Start(ctx) }()
			synctest.Wait()
			return func() {
				lose()
				if err := <-done; err != nil {
					t.Error(err)
				}
				synctest.Wait()
			}
		})
	})
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestWorkerRunsAJobOnce(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		defer lead()()
		expect(t, "before", read.WorkUnknown, w.Work(alice).State)
		w.Begin(alice, j.job("a", 2, nil))
		w.Begin(alice, j.job("b", 2, nil)) // by a pass that was repeated
		elapse(1500 * time.Millisecond)
		w.Begin(alice, j.job("c", 2, nil))
		expect(t, "under way", read.Work[string]{State: read.WorkRunning}, w.Work(alice))
		elapse(10 * time.Second)
		expect(t, "ended", read.Work[string]{State: read.WorkEnded, Result: "a done"}, w.Work(alice))
		expect(t, "did", []string{"a 1", "a 2", "wake alice"}, j.read())
		w.Begin(alice, j.job("d", 1, nil))
		elapse(10 * time.Second)
		expect(t, "did again", []string{"d 1", "wake alice"}, j.read())
	})
}

func TestWorkerTellsWhyAJobEnded(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		defer lead()()
		errFull := errors.New("full")
		w.Begin(alice, j.job("a", 1, errFull))
		elapse(10 * time.Second)
		if work := w.Work(alice); work.State != read.WorkEnded || !errors.Is(work.Err, errFull) || work.Result != "" {
			t.Errorf("%+v", work)
		}
	})
}

// A job that fails for ever is told every time, so that its object backs off, and is begun again every time.
func TestWorkerEnsuresAJob(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		defer lead()()
		errFull := errors.New("full")
		ensure := func(what string, ends error) error { return w.Ensure(alice, what, j.job(what, 1, ends)) }
		expect(t, "begun", nil, ensure("a", errFull))
		expect(t, "under way", nil, ensure("a", errFull))
		for range 3 {
			elapse(10 * time.Second)
			if err := ensure("a", errFull); !errors.Is(err, errFull) {
				t.Errorf("failed: %v", err)
			}
			expect(t, "again", read.WorkRunning, w.Work(alice).State)
		}
		expect(t, "another", nil, ensure("b", nil))
		elapse(10 * time.Second)
		expect(t, "for", read.Work[string]{State: read.WorkEnded, For: "b", Result: "b done"}, w.Work(alice))
		if w.jobs[alice].job != nil {
			t.Error("what the job holds is kept after its end")
		}
	})
}

func TestWorkerForgets(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		defer lead()()
		w.Begin(alice, j.job("a", 5, nil))
		elapse(1500 * time.Millisecond)
		w.Forget(alice)
		expect(t, "forgotten", read.Work[string]{}, w.Work(alice))
		elapse(10 * time.Second)
		expect(t, "did", []string{"a 1", "a 2", "a stopped"}, j.read())
		expect(t, "kept", 0, len(w.jobs))
	})
}

// A command that does not end at once when it is stopped must not meet the first
// command of the next job of the same object.
func TestWorkerLetsOneJobEndBeforeTheNext(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		defer lead()()
		w.Begin(alice, func(context.Context) (string, bool, error) {
			j.write("slow begins")
			last(5 * time.Second)
			j.write("slow ends")
			return "", false, nil
		})
		elapse(time.Second)
		w.Forget(alice)
		w.Begin(alice, j.job("a", 1, nil))
		expect(t, "seen as", read.Work[string]{State: read.WorkRunning}, w.Work(alice))
		elapse(10 * time.Second)
		expect(t, "did", []string{"slow begins", "slow ends", "a 1", "wake alice"}, j.read())
		expect(t, "seen as", read.Work[string]{State: read.WorkEnded, Result: "a done"}, w.Work(alice))
	})
}

func TestWorkerStopsWithTheLeader(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		w.Begin(alice, j.job("a", 5, nil)) // before it leads: nothing runs
		elapse(10 * time.Second)
		expect(t, "did before", []string(nil), j.read())
		lose := lead()
		elapse(500 * time.Millisecond)
		expect(t, "did as leader", []string{"a 1"}, j.read())
		lose()
		elapse(10 * time.Second)
		expect(t, "did after", []string{"a stopped", "wake alice"}, j.read())
		if work := w.Work(alice); !errors.Is(work.Err, context.Canceled) {
			t.Errorf("%+v", work)
		}
	})
}

func TestDriveGivesOneCommandToEachJob(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, _ func() func()) {
		for _, name := range []string{"d", "a", "c", "b"} {
			w.Begin(read.Key{Name: name}, j.job(name, 2, nil))
		}
		// In the same order each time, or a run of the simulation could not be repeated.
		expect(t, "ran", 4, w.Drive(t.Context()))
		expect(t, "did", []string{"a 1", "b 1", "c 1", "d 1"}, j.read())
		w.Forget(read.Key{Name: "b"})
		expect(t, "ran", 3, w.Drive(t.Context()))
		expect(t, "did", []string{"a 2", "wake a", "c 2", "wake c", "d 2", "wake d"}, j.read())
		expect(t, "ran", 0, w.Drive(t.Context()))
	})
}

// A leader gives up its Lease only when Start has returned: until the command that is under way
// has, another leader's could undo it.
func TestWorkerEndsAfterItsLastCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Worker[string]{Wake: func(read.Key) {}}
		ctx, lose := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = w.Start(ctx)
		}()
		synctest.Wait()
		var returned time.Time
		w.Begin(alice, func(context.Context) (string, bool, error) { // one that cannot be stopped
			last(3 * time.Second)
			returned = time.Now()
			return "", false, nil
		})
		synctest.Wait()
		lose()
		<-ended
		if returned.IsZero() {
			t.Error("it ended in the middle of a command")
		}
		w.Begin(bob, func(context.Context) (string, bool, error) {
			t.Error("a job begins after the end")
			return "", true, nil
		})
		synctest.Wait()
	})
}
