package edge

import (
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

const (
	// atRest and inFlight are how often a pool is swept: while something is on its way to a device that is heard, its report is awaited.
	atRest   = 30 * time.Second
	inFlight = 2 * time.Second
)

// pace says how often pools are swept, by the pods that are on their way.
type pace struct {
	mu   sync.Mutex
	busy map[string]map[read.Key]bool // pods by pool
	of   map[read.Key]string          // the pool of a pod that is busy
}

// note says what a pod is about; pool is empty if it is at rest, or gone. changed are the pools to be swept at another pace.
func (p *pace) note(pod read.Key, pool string) (changed []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, known := p.of[pod]
	if known && was == pool || !known && pool == "" {
		return nil
	}
	if known {
		delete(p.of, pod)
		if delete(p.busy[was], pod); len(p.busy[was]) == 0 {
			delete(p.busy, was)
			changed = append(changed, was)
		}
	}
	if pool == "" {
		return changed
	}
	if p.of == nil {
		p.of, p.busy = map[read.Key]string{}, map[string]map[read.Key]bool{}
	}
	if p.busy[pool] == nil {
		p.busy[pool] = map[read.Key]bool{}
		changed = append(changed, pool)
	}
	p.of[pod], p.busy[pool][pod] = pool, true
	return changed
}

// every is how often a pool is swept.
func (p *pace) every(pool string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.busy[pool]) > 0 {
		return inFlight
	}
	return atRest
}
