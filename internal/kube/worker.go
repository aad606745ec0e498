package kube

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Job is work that takes longer than an effect may. Each call gives one command
// and looks at what came of it; it is done, with a result, when nothing is left to do. A Job
// decides by a pure function of what it observes, so it can be stopped after any call.
type Job[R any] func(ctx context.Context) (result R, done bool, err error)

// WithoutResult makes a Job of one whose result is seen in the world.
func WithoutResult(step func(context.Context) (done bool, err error)) Job[struct{}] {
	return func(ctx context.Context) (none struct{}, done bool, err error) {
		done, err = step(ctx)
		return none, done, err
	}
}

// Worker runs one job per object beside the passes, while this process leads. A
// job is started by an effect, seen as a fact with its result, and wakes its object when it ends.
// After a crash nothing is known of it: the object looks at the world and starts
// it again if need be.
type Worker[R any] struct {
	Wake func(read.Key)
	// Slots are how many jobs run at a time; nil is any number.
	Slots chan struct{}

	mu     sync.Mutex
	ctx    context.Context // of the leader; nil before Start: then Drive runs the jobs
	jobs   map[read.Key]*work[R]
	ending map[read.Key]chan struct{} // of jobs that were forgotten in the middle of a command
	over   bool                       // this process no longer leads
	flight sync.WaitGroup             // commands that have not returned
}

type work[R any] struct {
	job    Job[R]
	state  read.Work[R]
	cancel context.CancelFunc
	over   chan struct{} // closed when the last command has returned; nil if none was given
}

// Begin starts a job, unless one is running for this object.
func (w *Worker[R]) Begin(key read.Key, job Job[R]) { w.BeginFor(key, "", job) }

// BeginFor is Begin, and remembers what the job is for: so it is seen later whether that is
// still what is wanted.
func (w *Worker[R]) BeginFor(key read.Key, what string, job Job[R]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jobs == nil {
		w.jobs, w.ending = map[read.Key]*work[R]{}, map[read.Key]chan struct{}{}
	}
	if one := w.jobs[key]; one != nil && one.state.State == read.WorkRunning {
		return
	}
	one := &work[R]{job: job, state: read.Work[R]{State: read.WorkRunning, For: what}, cancel: func() {}}
	w.jobs[key] = one
	if w.ctx != nil {
		w.run(key, one)
	}
}

// Ensure has a job run for what is wanted, in place of one for anything else. One that failed is begun again, and its
// error returned: so the object backs off, ever longer, for as long as the job fails.
func (w *Worker[R]) Ensure(key read.Key, what string, job Job[R]) error {
	last := w.Work(key)
	if last.State == read.WorkRunning && last.For == what {
		return nil
	}
	w.Forget(key)
	w.BeginFor(key, what, job)
	if last.State == read.WorkEnded && last.For == what {
		return last.Err
	}
	return nil
}

// run gives a job its commands, once the last command of the job before has
// returned: two at a time could undo each other.
func (w *Worker[R]) run(key read.Key, one *work[R]) {
	if w.over {
		return
	}
	w.flight.Add(1)
	ctx, cancel := context.WithCancel(w.ctx)
	one.cancel, one.over = cancel, make(chan struct{})
	before := w.ending[key]
	go func() {
		defer w.flight.Done()
		defer cancel()
		if before != nil {
			<-before
		}
		if w.Slots != nil {
			select {
			case w.Slots <- struct{}{}:
				defer func() { <-w.Slots }()
			case <-ctx.Done():
			}
		}
		for !w.step(ctx, key, one) {
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		close(one.over)
		if w.ending[key] == one.over {
			delete(w.ending, key)
		}
	}()
}

// step runs one command and says whether the job is over.
func (w *Worker[R]) step(ctx context.Context, key read.Key, one *work[R]) bool {
	var result R
	done, err := false, ctx.Err()
	if err == nil {
		result, done, err = one.job(ctx)
	}
	if !done && err == nil {
		return false
	}
	w.mu.Lock()
	one.job = nil // it may hold much
	if one.state.State, one.state.Err = read.WorkEnded, err; err == nil {
		one.state.Result = result
	}
	forgotten := w.jobs[key] != one
	w.mu.Unlock()
	if !forgotten {
		w.Wake(key)
	}
	return true
}

// Work implements read.Works.
func (w *Worker[R]) Work(key read.Key) read.Work[R] {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.jobs[key]; one != nil {
		return one.state
	}
	return read.Work[R]{}
}

// Forget stops the object's job and drops what is known of it.
func (w *Worker[R]) Forget(key read.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.jobs[key]
	if one == nil {
		return
	}
	one.cancel()
	if one.over != nil && one.state.State == read.WorkRunning {
		w.ending[key] = one.over
	}
	delete(w.jobs, key)
}

// Start lets jobs run until ctx ends, and returns when the last command has: only then may
// another process lead, whose commands could undo it.
func (w *Worker[R]) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	for key, one := range w.jobs {
		if one.state.State == read.WorkRunning {
			w.run(key, one)
		}
	}
	w.mu.Unlock()
	<-ctx.Done()
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.flight.Wait()
	return nil
}

// Drive runs one command of each running job, in the caller's goroutine: the
// simulation decides what happens between two commands.
func (w *Worker[R]) Drive(ctx context.Context) (ran int) {
	w.mu.Lock()
	running := map[read.Key]*work[R]{}
	for key, one := range w.jobs {
		if one.state.State == read.WorkRunning {
			running[key] = one
		}
	}
	w.mu.Unlock()
	// In an order of its own, or a run could not be repeated.
	for _, key := range slices.SortedFunc(maps.Keys(running), byName) {
		w.step(ctx, key, running[key])
	}
	return len(running)
}

func byName(a, b read.Key) int { return strings.Compare(a.String(), b.String()) }
