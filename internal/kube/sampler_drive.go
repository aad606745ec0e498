package kube

import (
	"context"
	"slices"
	"time"
)

// Drive polls what is due, one after the other in the caller's goroutine: the
// simulation decides what happens between two looks.
func (s *Sampler[V]) Drive(ctx context.Context) (polled int) {
	keys := s.takeDue()
	slices.SortFunc(keys, byName) // in an order of its own, or a run could not be repeated
	for _, key := range keys {
		s.poll(ctx, key)
	}
	return len(keys)
}

// Next is when Drive has something to do again.
func (s *Sampler[V]) Next() (at time.Time, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, job := range s.jobs {
		if job.every > 0 && (!waits || job.due.Before(at)) {
			at, waits = job.due, true
		}
	}
	return at, waits
}
