package fake

import (
	"math"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Advance lets time pass, and nothing else: who is out of reach is suspected after the
// timeout, and called failed once a majority suspects it; bans end; failovers that were
// asked for, and handshakes with nobody, are given up.
func (c *Cluster) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(func(s *server) {
		for id, p := range s.view {
			switch {
			case id == s.id || c.finds(id, p.addr):
				p.silent = 0
			case p.silent == 0:
				p.silent = max(c.now, 1)
			}
		}
		c.knock(s)
	})
	c.now += by
	c.each(c.suspect)
	c.each(c.condemn)
	c.each(func(s *server) {
		if s.manual != nil && c.now >= s.manual.until {
			s.manual = nil
		}
		for id := range s.banned {
			if !s.bans(id, c) {
				delete(s.banned, id)
			}
		}
		for addr, since := range s.knocks {
			if c.now-since > s.timeout() {
				delete(s.met, addr)
				delete(s.knocks, addr)
			}
		}
	})
}

// knock notes since when nobody answers where a server shakes hands.
func (c *Cluster) knock(s *server) {
	for addr := range s.knocks {
		if !s.met[addr] || c.up(addr) {
			delete(s.knocks, addr)
		}
	}
	for addr := range s.met {
		if _, knocks := s.knocks[addr]; !knocks && !c.up(addr) {
			s.knocks[addr] = c.now
		}
	}
}

func (c *Cluster) each(do func(*server)) {
	for _, addr := range c.addresses() {
		if s := c.servers[addr]; !s.down {
			do(s)
		}
	}
}

// suspect marks who has been silent for too long, and absolves who is not.
func (c *Cluster) suspect(s *server) {
	for _, p := range s.view {
		switch {
		case p.silent == 0:
			p.state = ""
		case c.now-p.silent > s.timeout() && p.state != topology.Failed:
			p.state = topology.Suspected
		}
	}
}

// condemn calls failed who is suspected by a majority of the voters.
func (c *Cluster) condemn(s *server) {
	for id, p := range s.view {
		if p.state != topology.Suspected {
			continue
		}
		voters, against := 0, 0
		for voter, q := range s.view {
			if q.slots == "" {
				continue
			}
			voters++
			if c.finds(voter, q.addr) {
				if seen := c.servers[q.addr].view[id]; seen != nil && (seen.state == topology.Suspected || seen.state == topology.Failed) {
					against++
				}
			}
		}
		if against > voters/2 {
			p.state = topology.Failed
		}
	}
}

// ignoredFor is how long the server has not talked to one that it does not know; always, if it never knew it.
func (s *server) ignoredFor(id string, c *Cluster) time.Duration {
	if at, dropped := s.dropped[id]; dropped {
		return c.now - at
	}
	return math.MaxInt64
}

// bans says that the server does not meet this one again by the word of others yet.
func (s *server) bans(id string, c *Cluster) bool { return c.now < s.banned[id] }
