package fake

import (
	"maps"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// exchange is a message and its answer. A server that was met is known from then
// on to the one that met it; the other shakes hands in turn. Only who is known is
// believed, and who was forgotten is not, until the ban is over.
func (c *Cluster) exchange(from, to *server) {
	if !from.reaches(to) {
		return
	}
	switch {
	case to.view[from.id] != nil:
		to.learn(from)
		to.learnPeers(from, c)
	case from.met[to.addr] || !from.older("8.1") && to.ignoredFor(from.id, c) >= from.timeout():
		// Since 8.1 a server introduces itself anew to one that has not talked to it for a while, which does
		// not mind that it was told to forget it. Others that were told so have it forget it once more.
		to.met[from.addr] = true
	}
	if from.view[to.id] != nil || from.met[to.addr] {
		from.learn(to)
		from.learnPeers(to, c)
	}
}

// reaches says that the server sends messages to the other: it met it, or knows it and
// where it is.
func (s *server) reaches(o *server) bool {
	p := s.view[o.id]
	return s.met[o.addr] || p != nil && p.addr == o.addr
}

// learn takes over what a known server says of itself. Of two that claim a slot, the
// higher epoch is believed, and of the same the one that had it.
func (s *server) learn(of *server) {
	told := *of.self()
	told.addr, told.shardID, told.state, told.silent = of.addr, of.shardID, "", 0
	if old := s.view[of.id]; old != nil {
		told.voted = old.voted
		if s.stale(old, of) {
			told.follows, told.slots, told.epoch = old.follows, old.slots, old.epoch
		} else if old.follows == "" && told.follows != "" {
			s.repoint(of.id, told.follows)
		}
	}
	if told.follows != "" {
		told.slots = ""
	}
	s.epoch = max(s.epoch, of.epoch)
	heads := s.id // who leads the shard of this server
	if !s.primary() {
		heads = s.self().follows
	}
	var lost topology.Slots
	if old := s.view[of.id]; old == nil || old.slots != told.slots || old.epoch != told.epoch {
		lost = s.rule(of.id, &told, heads)
	}
	delete(s.met, of.addr)
	if old := s.view[of.id]; old == nil || *old != told {
		s.view[of.id] = &told
	}
	s.loseSlots(of, heads, lost)
	s.collide(of)
}

// stale says that a server does not believe another, in which it saw a primary, that it follows: that one speaks in
// the name of its primary, and under a lower epoch than the one in which it was seen. Since 9, and only within a shard.
func (s *server) stale(old *peer, of *server) bool {
	primary := of.view[of.self().follows]
	return !s.older("9") && old.follows == "" && primary != nil && old.shardID == of.shardID && old.epoch > primary.epoch
}

// rule settles what a server claims against what others have, and says what the one
// that leads has lost by it.
func (s *server) rule(of string, told *peer, heads string) (lost topology.Slots) {
	for id, p := range s.view {
		if id == of || !told.slots.Overlaps(p.slots) {
			continue
		}
		both := told.slots.Without(told.slots.Without(p.slots))
		switch {
		case p.epoch < told.epoch:
			p = s.edit(id)
			p.slots = p.slots.Without(both)
			if id == heads {
				lost = both
			}
			if p.slots == "" && s.view[of] != nil {
				s.repoint(id, of)
			}
		default:
			told.slots = told.slots.Without(both)
		}
	}
	return lost
}

// loseSlots is what a server does whose shard lost slots to another. If that one took all
// there were and owns no others, it is the new head of the shard, to be followed.
// Otherwise the keys of those slots are not its own any more: it deletes them.
func (s *server) loseSlots(to *server, heads string, lost topology.Slots) {
	if lost == "" {
		return
	}
	if p := s.view[heads]; p != nil && p.slots == "" && s.view[to.id].slots == lost {
		s.follow(to.id)
		return
	}
	if s.primary() {
		s.data, s.open = maps.Clone(s.data), maps.Clone(s.open)
		for _, slot := range lost.List() {
			delete(s.data, slot)
			delete(s.open, slot)
		}
	}
}

// follow makes the server a replica, whose data are soon another's.
func (s *server) follow(primary string) {
	self, to := s.edit(s.id), s.view[primary]
	self.follows, self.slots = primary, ""
	self.shardID, s.shardID = to.shardID, to.shardID
	s.synced, s.syncing, s.copied, s.manual, s.paused = false, false, false, nil, 0
	s.end(topology.JobFailed, "the server is no primary any more")
}

// repoint lets open slots follow a failover of the other end.
func (s *server) repoint(from, to string) {
	if len(s.open) == 0 {
		return
	}
	s.open = maps.Clone(s.open)
	for slot, o := range s.open {
		if o.Peer == from {
			o.Peer = to
			s.open[slot] = o
		}
	}
}

// collide parts two primaries of the same epoch: the lower ID takes a new one.
func (s *server) collide(of *server) {
	if s.primary() && of.primary() && s.self().epoch == of.self().epoch && s.id < of.id {
		s.epoch++
		s.edit(s.id).epoch = s.epoch
	}
}

// learnPeers takes over who else is known to a server that it knows: with those it shakes
// hands itself. Whom that one was told to forget, it forgets.
func (s *server) learnPeers(from *server, c *Cluster) {
	s.shun(from, c)
	for id, p := range from.view {
		known := s.view[id]
		switch {
		case known != nil && known.state != "" && known.addr != p.addr && c.finds(id, p.addr):
			s.edit(id).addr = p.addr // who is out of reach is sought where another reaches it
		case known == nil && p.state != topology.Failed && !s.bans(id, c):
			s.met[p.addr] = true
		}
	}
}

// shun forgets whom another was told to forget, but for itself and its primary.
func (s *server) shun(from *server, c *Cluster) {
	for id, until := range from.banned {
		if from.bans(id, c) && s.view[id] != nil && id != s.id && id != s.self().follows {
			s.forget(id, until, c.now)
		}
	}
}
