package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// repeatAfter is how much later an event is told again.
const repeatAfter = time.Second

// changed notes a write that went through, or that somebody else's was seen, and
// keeps it until events are told. Of an object that is gone nothing is left: nil.
func (r *run) changed(ref Ref, is *unstructured.Unstructured, call *Call) (news int) {
	r.mu.Lock()
	was, fresh := r.record.add(ref, is)
	change := Change{Ref: ref, Was: was, Is: is, ByUser: call == nil || call.kind == byUser, call: call}
	if fresh {
		r.pending = append(r.pending, change)
	}
	r.mu.Unlock()
	if !fresh {
		return 0
	}
	if !change.ByUser && r.play.Always != nil {
		if err := r.play.Always(change); err != nil {
			r.diverge("at %s: %v", call.Boundary, err)
		}
	}
	return 1
}

// deliver tells events of what was written since, to every process. Without faults
// it is done between passes: no event overtakes the answer to its write.
func (r *run) deliver() {
	r.mu.Lock()
	changes := r.pending
	r.pending = nil
	r.mu.Unlock()
	for _, change := range changes {
		if change.call != nil && change.call.fault == LostEvent {
			continue
		}
		for _, c := range r.living() {
			c.enqueue(change)
		}
	}
}

// enqueue is how a change reaches a process: at once, or when its cache catches up.
func (c *Cell) enqueue(change Change) {
	c.run.mu.Lock()
	if _, lags := c.lags(change.GroupVersionKind); lags {
		c.lag.held = append(c.lag.held, change)
		c.run.mu.Unlock()
		return
	}
	c.run.mu.Unlock()
	c.tell(change)
}

func (c *Cell) tell(change Change) {
	for n := range c.controllers {
		for _, key := range c.controllers[n].wakes(c, change) {
			c.run.mu.Lock()
			c.queue.add(item{n, key})
			if call := change.call; call != nil {
				call.wakes++
				if call.fault == RepeatedEvent {
					c.queue.addAt(item{n, key}, c.run.clock.Add(repeatAfter))
				}
			}
			c.run.mu.Unlock()
		}
	}
}
