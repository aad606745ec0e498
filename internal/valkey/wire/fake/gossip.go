package fake

import "maps"

// Step is one thing that has not happened yet: a message from one server to
// another and its answer, or the first copy of a primary's data to a replica.
type Step struct {
	From, To string // addresses
	Sync     bool
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
		if s.self().follows != "" && !s.synced && c.up(s.primaryAddr()) {
			steps = append(steps, Step{From: s.primaryAddr(), To: from, Sync: true})
		}
	}
	return steps
}

// Deliver lets one step happen. One that is no longer possible does nothing.
func (c *Cluster) Deliver(step Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.up(step.From) || !c.up(step.To) {
		return
	}
	from, to := c.servers[step.From], c.servers[step.To]
	if step.Sync {
		// Replication dials an address: whoever answers there is copied.
		if to.self().follows != "" && to.primaryAddr() == step.From {
			to.keys, to.synced = from.keys, true
		}
		return
	}
	c.exchange(from, to)
}

// Settle delivers until nothing is left to happen.
func (c *Cluster) Settle() {
	for steps := c.Steps(); len(steps) > 0; steps = c.Steps() {
		for _, s := range steps {
			c.Deliver(s)
		}
	}
}

// exchange is a message and its answer. A server that was met is known from then
// on to the one that met it; the other shakes hands in turn. Only who is known is
// believed.
func (c *Cluster) exchange(from, to *server) {
	if !from.reaches(to) {
		return
	}
	if to.view[from.id] == nil {
		to.met[from.addr] = true
	} else {
		to.learn(from)
		to.hear(from)
	}
	from.learn(to)
	from.hear(to)
}

// reaches says that the server sends messages to the other: it met or knows it.
func (s *server) reaches(o *server) bool { return s.met[o.addr] || s.view[o.id] != nil }

// news says that an exchange would change what either of them thinks.
func (c *Cluster) news(from, to *server) bool {
	if !from.reaches(to) {
		return false
	}
	before := [2]server{from.copy(), to.copy()}
	a, b := from.copy(), to.copy()
	c.exchange(&a, &b)
	return !a.equal(&before[0]) || !b.equal(&before[1])
}

func (s *server) copy() server {
	out := *s
	out.view, out.met = make(map[string]*peer, len(s.view)), make(map[string]bool, len(s.met))
	for id, p := range s.view {
		q := *p
		out.view[id] = &q
	}
	for addr := range s.met {
		out.met[addr] = true
	}
	return out
}

func (s *server) equal(o *server) bool {
	if len(s.view) != len(o.view) || len(s.met) != len(o.met) {
		return false
	}
	for id, p := range s.view {
		if q := o.view[id]; q == nil || *q != *p {
			return false
		}
	}
	return maps.Equal(s.met, o.met)
}
