package fake

import "maps"

// behind says that a replica can get something from whoever answers where it finds its
// primary.
func (c *Cluster) behind(s *server) bool {
	addr := s.primaryAddr()
	if s.primary() || !c.up(addr) || addr == s.addr {
		return false
	}
	from := c.servers[addr]
	if !s.synced && !s.syncing && !from.lets(s) {
		return false
	}
	return !s.synced || s.history != from.history || s.offset != from.offset
}

// copyFrom is one step of replication. Who shares the other's history gets what is
// missing; all others get everything, in two steps, and lose at the end what they had.
func (s *server) copyFrom(from *server) {
	shared := s.history == from.history && s.offset <= from.offset ||
		s.history == from.earlier.history && s.offset <= from.earlier.offset
	if !shared && !s.syncing {
		s.syncing, s.synced = true, false
		return
	}
	s.history, s.offset, s.earlier = from.history, from.offset, from.earlier
	s.data = maps.Clone(from.data)
	if !s.synced {
		s.session++
	}
	s.synced, s.syncing, s.copied = true, false, true
}

// promote makes a replica the primary of its shard, under a new epoch.
func (c *Cluster) promote(s *server) {
	old := s.view[s.self().follows]
	s.epoch++
	self := s.self()
	self.follows, self.epoch = "", s.epoch
	self.slots, old.slots = old.slots, ""
	c.created++
	s.earlier = earlier{history: s.history, offset: s.offset}
	s.history, s.manual, s.syncing = made("history", c.created), nil, false
}
