package kube

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Sampler polls worlds outside of Kubernetes, each at its own rate and all of
// them in budgeted batches, and wakes an object only when its world changed.
type Sampler[V any] struct {
	Take   func(context.Context, read.Key) (V, error)
	Same   func(a, b V) bool
	Wake   func(read.Key)
	Seen   func(read.Key, V) // is told of every look that succeeds, of what is not forgotten; may be nil
	Now    func() time.Time
	Budget int // looks at a time; 8 if 0

	mu   sync.Mutex
	jobs map[read.Key]*sampling[V]
	busy map[read.Key]bool // being polled, even if forgotten since
	slow slowLane
}

type sampling[V any] struct {
	every time.Duration
	due   time.Time
	soon  bool // asked for since the last look began
	last  read.Sample[V]
}

const (
	tick       = 50 * time.Millisecond // how often due samples are looked for
	lookWithin = 3 * time.Second       // a look that hangs must not keep its place in the budget, nor a pass
)

// forgetAfter is how long a sample is remembered that was taken once, of a world that is not polled.
const forgetAfter = time.Minute

// Every sets how often an object's world is polled; 0 forgets it.
func (s *Sampler[V]) Every(key read.Key, every time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if every <= 0 {
		delete(s.jobs, key)
		s.slow.forget(key)
		return
	}
	if job := s.job(key); job.every != every {
		job.every, job.due = every, s.Now().Add(every)
	}
}

// Soon polls an object's world at once, instead of when it is due: something is said to have happened there.
func (s *Sampler[V]) Soon(key read.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job, has := s.jobs[key]; has {
		job.soon = true
	}
}

// Last implements read.Samples.
func (s *Sampler[V]) Last(key read.Key) read.Sample[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job, has := s.jobs[key]; has {
		return job.last
	}
	return read.Sample[V]{}
}

// Fresh implements read.Samples.
func (s *Sampler[V]) Fresh(ctx context.Context, key read.Key, age time.Duration) read.Sample[V] {
	last := s.Last(key)
	if old, taken := last.Age(s.Now()); taken && old <= age && last.Err == nil {
		return last
	}
	s.mu.Lock()
	s.job(key)
	s.mu.Unlock()
	sample, _ := s.take(ctx, key)
	return sample
}

// take looks, remembers, and says whether anything changed. What was forgotten
// during the look stays forgotten.
func (s *Sampler[V]) take(ctx context.Context, key read.Key) (sample read.Sample[V], changed bool) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	began := s.Now()
	value, err := s.Take(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	job, wanted := s.jobs[key]
	if !wanted {
		job = &sampling[V]{}
	}
	was := job.last
	if err != nil && was.Err == nil { // a status has no room for it
		log.FromContext(ctx).Info("a look failed, and is repeated", "object", key, "error", err.Error())
	}
	job.due = s.Now().Add(job.every)
	if job.last.Err = err; err == nil {
		job.last.Value, job.last.At = value, began // what was read first is as old as that
	}
	if err == nil && wanted && s.Seen != nil {
		s.Seen(key, value)
	}
	changed = (was.Err == nil) != (err == nil) || err == nil && (was.At.IsZero() || !s.Same(was.Value, value))
	return job.last, changed && wanted
}

func (s *Sampler[V]) job(key read.Key) *sampling[V] {
	if s.jobs == nil {
		s.jobs = map[read.Key]*sampling[V]{}
	}
	if s.jobs[key] == nil {
		s.jobs[key] = &sampling[V]{due: s.Now()}
	}
	return s.jobs[key]
}

// Start polls until ctx ends. The manager runs it while this process leads.
func (s *Sampler[V]) Start(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.budget() + 1)
	g.Go(func() error {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				for _, key := range s.takeDue() {
					g.Go(func() error { s.poll(ctx, key); return nil })
				}
			}
		}
	})
	return g.Wait()
}

func (s *Sampler[V]) budget() int {
	if s.Budget == 0 {
		return 8
	}
	return s.Budget
}

// takeDue lists what is due and marks it, so that a slow look is not joined by a second.
func (s *Sampler[V]) takeDue() (keys []read.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy == nil {
		s.busy = map[read.Key]bool{}
	}
	for key, job := range s.jobs {
		switch {
		case job.every == 0 && s.Now().Sub(job.due) > forgetAfter:
			delete(s.jobs, key) // who asked once, and was not the object itself
		case job.every > 0 && !s.busy[key] && (job.soon || !s.Now().Before(job.due)):
			s.busy[key], job.soon = true, false
			keys = append(keys, key)
		}
	}
	return keys
}

// poll looks at one object's world. One that was slow the last time waits for one of a few
// places, so that what does not answer cannot fill the budget.
func (s *Sampler[V]) poll(ctx context.Context, key read.Key) {
	counted, may := s.slow.enter(key, s.budget()/2)
	changed := false
	if may {
		began := s.Now()
		_, changed = s.take(ctx, key)
		s.slow.leave(key, counted, s.Now().Sub(began))
	} else {
		s.mu.Lock()
		if job := s.jobs[key]; job != nil {
			job.due = s.Now().Add(slowAgain)
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	delete(s.busy, key)
	if s.jobs[key] == nil {
		s.slow.forget(key) // it was forgotten during the look
	}
	s.mu.Unlock()
	if changed && ctx.Err() == nil {
		s.Wake(key)
	}
}
