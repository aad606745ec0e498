package fake

import (
	"maps"
)

// Step is one thing that has not happened yet. What it is follows from which fields are
// set: a message from one server to another and its answer, unless it is said otherwise.
type Step struct {
	From, To string // addresses
	Sync     bool   // data go from a primary to a replica
	Elect    bool   // a replica asks for votes
	Job      string // slots go as a whole, by this job
}

// Steps lists everything that can happen now and would change something.
func (c *Cluster) Steps() (steps []Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range c.addresses() {
		s := c.servers[from]
		if s.down {
			continue
		}
		for _, to := range c.addresses() {
			if to != from && c.up(to) && c.news(s, c.servers[to]) {
				steps = append(steps, Step{From: from, To: to})
			}
		}
		if c.behind(s) {
			steps = append(steps, Step{From: s.primaryAddr(), To: from, Sync: true})
		}
		if c.stands(s) {
			steps = append(steps, Step{To: from, Elect: true})
		}
		for _, j := range s.jobs {
			if !j.Importing && !j.Ended() {
				steps = append(steps, Step{From: from, Job: j.Name})
			}
		}
	}
	return steps
}

// Deliver lets one step happen. One that is no longer possible does nothing.
func (c *Cluster) Deliver(step Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch from, to := c.servers[step.From], c.servers[step.To]; {
	case step.Job != "":
		if c.up(step.From) {
			c.run(from, step.Job)
		}
	case !c.up(step.To):
	case step.Elect:
		if c.stands(to) {
			c.elect(to)
		}
	case !c.up(step.From):
	case step.Sync:
		// Replication dials an address: whoever answers there is copied.
		if to.primaryAddr() == step.From && c.behind(to) {
			to.copyFrom(from)
		}
	default:
		c.exchange(from, to)
	}
}

// Settle delivers until nothing is left to happen.
func (c *Cluster) Settle() {
	for steps := c.Steps(); len(steps) > 0; steps = c.Steps() {
		for _, s := range steps {
			c.Deliver(s)
		}
	}
}

// news says that an exchange would change what either of them thinks.
func (c *Cluster) news(from, to *server) bool {
	if !from.reaches(to) {
		return false
	}
	a, b := from.copy(), to.copy()
	c.exchange(&a, &b)
	return !a.equal(from) || !b.equal(to)
}

// copy is of all that an exchange can change; see edit.
func (s *server) copy() server {
	out := *s
	out.view, out.met, out.banned, out.dropped = maps.Clone(s.view), maps.Clone(s.met), maps.Clone(s.banned), maps.Clone(s.dropped)
	return out
}

func (s *server) equal(o *server) bool {
	same := func(p, q *peer) bool { return p == q || q != nil && p != nil && *p == *q }
	return s.epoch == o.epoch && len(s.data) == len(o.data) && len(s.banned) == len(o.banned) &&
		maps.EqualFunc(s.view, o.view, same) && maps.Equal(s.met, o.met) && maps.Equal(s.open, o.open)
}
