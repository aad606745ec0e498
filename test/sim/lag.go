package sim

import "time"

const (
	// lagsFor is how long a cache stays behind, unless enough passes were made before.
	lagsFor   = 2 * time.Second
	lagPasses = 3
	// rewindBy is how many writes the cache of a new process is behind at first.
	rewindBy = 3
)

// lag is a cache that stands still.
type lag struct {
	moment int // what it shows, as a number of versions
	until  time.Time
	passes int      // made since
	held   []Change // not told yet
}

// begin makes the cache show a moment, and what came later when it catches up.
// The run is locked.
func (c *Cell) begin(moment int) {
	if c.lag != nil {
		return // a cache does not go back while it runs
	}
	c.lag = &lag{moment: moment, until: c.run.clock.Add(lagsFor)}
	for _, v := range c.run.record.versions[moment:] {
		was, _ := c.run.record.asOf(v.ref, moment)
		c.lag.held = append(c.lag.held, Change{Ref: v.ref, Was: was, Is: v.obj})
	}
}

// moment is what the cache shows. The run is locked.
func (c *Cell) moment() int {
	if c.lag != nil {
		return c.lag.moment
	}
	return len(c.run.record.versions)
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
