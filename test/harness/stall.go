package harness

import (
	"sync/atomic"
	"testing"
	"time"
)

const (
	beatEvery = 5 * time.Millisecond // is how often a stall looks at the clock
	slack     = time.Millisecond     // is how late timers are on a quiet machine, too
)

// Stall adds up for how long the machine kept a process from running that wanted to. Whoever claims that something
// takes at most so long allows that much more: on a quiet machine it is next to nothing.
type Stall struct{ late atomic.Int64 }

// StartStall measures until the test ends.
func StartStall(t testing.TB) *Stall {
	t.Helper()
	s := &Stall{}
	go func() {
		for due := time.Now().Add(beatEvery); t.Context().Err() == nil; due = time.Now().Add(beatEvery) {
			<-time.After(time.Until(due))
			s.late.Add(int64(max(0, time.Since(due)-slack)))
		}
	}()
	return s
}

// Lap is what came together since the last lap.
func (s *Stall) Lap() time.Duration { return time.Duration(s.late.Swap(0)).Round(time.Millisecond) }
