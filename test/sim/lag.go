package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// lagsFor is how long a cache stays behind, unless enough passes were made before.
	lagsFor   = 2 * time.Second
	lagPasses = 3
	// rewindBy is how many writes the cache of a new process is behind at first.
	rewindBy = 3
)

// lag is a cache that stands still.
type lag struct {
	moment int                     // what it shows, as a number of versions
	but    schema.GroupVersionKind // of which it shows the newest: informers do not lag together
	until  time.Time
	passes int      // made since
	held   []Change // not told yet
}

// begin makes the cache show a moment, and what came later when it catches up.
// The run is locked.
func (c *Cell) begin(moment int, but schema.GroupVersionKind) {
	if c.lag != nil {
		return // a cache does not go back while it runs
	}
	c.lag = &lag{moment: moment, but: but, until: c.run.clock.Add(lagsFor)}
	for _, v := range c.run.record.versions[moment:] {
		was := c.run.record.asOf(v.ref, moment)
		if v.ref.GroupVersionKind == but || was == nil && v.obj == nil {
			continue // it came and went unseen
		}
		c.lag.held = append(c.lag.held, Change{Ref: v.ref, Was: was, Is: v.obj})
	}
}

// lags says whether the cache of a kind does, and what it shows. The run is locked.
func (c *Cell) lags(kind schema.GroupVersionKind) (moment int, lags bool) {
	if c.lag != nil && c.lag.but != kind {
		return c.lag.moment, true
	}
	return len(c.run.record.versions), false
}

// catchUp ends a lag whose time is over, and tells what was held back.
func (c *Cell) catchUp() {
	c.run.mu.Lock()
	lag := c.lag
	if lag == nil || c.run.clock.Before(lag.until) && lag.passes < lagPasses {
		c.run.mu.Unlock()
		return
	}
	c.lag = nil
	c.run.mu.Unlock()
	for _, change := range lag.held {
		c.tell(change)
	}
}
