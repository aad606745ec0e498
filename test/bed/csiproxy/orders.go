package csiproxy

import (
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// Fail answers the next calls of a method with a code, so many times or Always, and the driver hears nothing of them.
func (p *Proxy) Fail(method string, code codes.Code, times int) {
	p.faults.change(method, func(f *fault) { f.code, f.times, f.applied = code, times, false })
}

// Lose lets the driver do what the next calls of a method ask for, so many times or Always, and answers with a code
// all the same.
func (p *Proxy) Lose(method string, code codes.Code, times int) {
	p.faults.change(method, func(f *fault) { f.code, f.times, f.applied = code, times, true })
}

// Slow makes every call of a method reach the driver late. It reaches the driver even if the caller has given up by
// then, as it does when a driver is slow.
func (p *Proxy) Slow(method string, delay time.Duration) {
	p.faults.change(method, func(f *fault) { f.delay = delay })
}

// Hold keeps every call of a method from the driver until release is called, or Clear. A call whose caller has given
// up goes on too.
func (p *Proxy) Hold(method string) (release func()) {
	held := make(chan struct{})
	p.faults.change(method, func(f *fault) {
		f.release()
		f.held = held
	})
	return sync.OnceFunc(func() {
		p.faults.change(method, func(f *fault) {
			if f.held == held {
				f.release()
			}
		})
	})
}

// Clear ends all faults but Dead.
func (p *Proxy) Clear() { p.faults.clear() }

// Calls is how many calls of a method have come, whatever became of them.
func (p *Proxy) Calls(method string) int {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return p.faults.calls[method]
}
