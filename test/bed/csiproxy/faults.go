package csiproxy

import (
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// Always is the number of times of a fault that stays until Clear.
const Always = -1

// fault is what happens to calls of one method.
type fault struct {
	delay time.Duration
	held  chan struct{} // closed when calls may go on; nil if they are not held
	// code is the answer instead of the driver's, for so many further calls.
	code  codes.Code
	times int
	// applied: the driver does what it is asked to, and only its answer is lost.
	applied bool
}

// faults are the standing orders of a proxy by method, the last part of its name: "CreateSnapshot".
type faults struct {
	mu    sync.Mutex
	of    map[string]*fault
	calls map[string]int
}

func newFaults() *faults { return &faults{of: map[string]*fault{}, calls: map[string]int{}} }

// change changes the fault of one method.
func (f *faults) change(method string, change func(*fault)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[method] == nil {
		f.of[method] = &fault{}
	}
	change(f.of[method])
}

// next counts a call and tells what is to happen to it. A fault that is used up is over.
func (f *faults) next(method string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	standing := f.of[method]
	if standing == nil {
		return fault{}
	}
	now := *standing
	switch {
	case standing.times > 0:
		standing.times--
	case standing.times == 0:
		now.code = codes.OK
	}
	return now
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, standing := range f.of {
		standing.release()
	}
	clear(f.of)
}

func (f *fault) release() {
	if f.held != nil {
		close(f.held)
		f.held = nil
	}
}
