package kube

import (
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// slowFrom is how long a look or a pass takes that is held up by something that does not
// answer: what does answer takes milliseconds.
const slowFrom = 500 * time.Millisecond

// slowAgain is how soon a slow one that found no place is tried again.
const slowAgain = time.Second

// slowLane keeps those whose last turn was slow to a few places, so that targets that
// cannot be reached never hold all of them.
type slowLane struct {
	mu      sync.Mutex
	slow    map[read.Key]bool
	running int
}

// enter says that key may take its turn: it was quick the last time, or one of the places
// is free. Whoever enters leaves.
func (l *slowLane) enter(key read.Key, places int) (counted, may bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.slow[key] {
		return false, true
	}
	if l.running >= max(1, places) {
		return false, false
	}
	l.running++
	return true, true
}

// leave notes how long the turn took.
func (l *slowLane) leave(key read.Key, counted bool, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if counted {
		l.running--
	}
	if took < slowFrom {
		delete(l.slow, key)
		return
	}
	if l.slow == nil {
		l.slow = map[read.Key]bool{}
	}
	l.slow[key] = true
}

// forget drops an object that is gone. Whoever entered leaves first.
func (l *slowLane) forget(key read.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.slow, key)
}
