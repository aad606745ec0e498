package fake

// Restart is how a server comes back.
type Restart struct {
	// Addr is where; "" is where it was. Another that is there is gone from there: bring
	// it back elsewhere before, or it stays out of reach.
	Addr string
	// Version is of the program; "" is the same.
	Version string
	// Forgets says that its nodes.conf is gone: it takes a new ID and knows nobody.
	Forgets bool
	// Corrupt says that its nodes.conf cannot be read: it does not come back.
	Corrupt bool
	// Empties says that its data are gone.
	Empties bool
}

// Restart ends the server at an address and starts it again. Settings that it was told
// are lost, and so is what it had under way.
func (c *Cluster) Restart(addr string, how Restart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[addr]
	if s == nil {
		return
	}
	s.hangUp()
	s.restart(c.configured)
	if how.Version != "" {
		s.version = how.Version
	}
	c.readFiles(s)
	if how.Addr != "" {
		delete(c.servers, addr)
		c.servers[how.Addr] = s
		s.addr, s.self().addr = how.Addr, how.Addr
	}
	c.created++
	if how.Empties {
		s.data, s.offset, s.copied = map[int]held{}, 0, false
	}
	if how.Empties || s.primary() {
		s.history, s.earlier = made("history", c.created), earlier{}
	}
	if how.Forgets {
		data := s.data
		c.name(s)
		s.data = data
	}
	s.down, s.over = how.Corrupt, how.Corrupt
}
