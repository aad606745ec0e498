package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// sample is a part of all mutants: as many as there is time for, by an order that a seed repeats.
type sample struct {
	budget time.Duration // 0 is all of them, in the order in which they are written
	seed   uint64
	random *rand.Rand
	began  time.Time
}

func newSample(budget time.Duration, seed uint64) *sample {
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	return &sample{budget, seed, rand.New(rand.NewPCG(seed, 0)), time.Now()} //nolint:gosec // nobody gains by guessing it
}

// order is in which order n things are tried.
func (s *sample) order(n int) []int {
	if s.budget > 0 {
		return s.random.Perm(n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

func (s *sample) took() time.Duration { return time.Since(s.began) }

// over says that no other mutant is begun.
func (s *sample) over() bool { return s.budget > 0 && s.took() > s.budget }

// coverage says how many were tried of all, and how to try the same ones again.
func (s *sample) coverage(tried, all int) string {
	if tried == all {
		return "all there are"
	}
	return fmt.Sprintf("%.0f %% of %d: seed %d", 100*float64(tried)/float64(all), all, s.seed)
}
