package fake

import (
	"fmt"
	"maps"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Write puts keys into the server at an address, into the first of its slots.
func (c *Cluster) Write(addr string, keys int) {
	c.set(addr, func(s *server) {
		slot := 0
		if r := s.self().slots.Ranges(); len(r) > 0 {
			slot = r[0][0]
		}
		for range keys {
			c.put(s, slot)
		}
	})
}

// Put is a client that writes one key of a slot, and asks where to. It says whether the
// write was acknowledged, and remembers so.
func (c *Cluster) Put(slot int) (acknowledged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.owner(slot)
	if s == nil || c.now < s.paused {
		return false
	}
	if o, open := s.open[slot]; open && !o.Importing { // it sends new keys on
		to := s.view[o.Peer]
		if to == nil || !c.finds(o.Peer, to.addr) {
			return false
		}
		if s = c.servers[to.addr]; !s.primary() || !s.open[slot].Importing {
			return false
		}
	}
	if c.now < s.paused {
		return false
	}
	c.put(s, slot)
	return true
}

// PutAt is a client that writes new keys of a slot to one server, and follows no
// redirect.
func (c *Cluster) PutAt(at wire.Target, slot, keys int) error {
	return c.tell(at, func(s *server) error {
		_, open := s.open[slot]
		if !s.primary() || open || !s.self().slots.Overlaps(topology.Range(slot, slot)) {
			return fmt.Errorf("write slot %d to %s: %w", slot, at.Addr, wire.ErrRefused)
		}
		for range keys {
			c.put(s, slot)
		}
		return nil
	})
}

func (c *Cluster) put(s *server, slot int) {
	c.written[slot]++
	s.data = maps.Clone(s.data)
	s.data[slot] = held{keys: s.data[slot].keys + 1, last: c.written[slot]}
	s.offset++
}

// owner is the server in reach that clients end up at: of those that claim the slot,
// the one with the highest epoch.
func (c *Cluster) owner(slot int) (owner *server) {
	one := topology.Range(slot, slot)
	c.each(func(s *server) {
		if s.primary() && s.self().slots.Overlaps(one) && (owner == nil || s.self().epoch > owner.self().epoch) {
			owner = s
		}
	})
	return owner
}

// Lost lists the slots of which the last write that was acknowledged is neither with the
// owner nor with a primary that imports the slot. It counts once all messages have
// arrived and all slots are closed.
func (c *Cluster) Lost() (slots []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, slot := range slices.Sorted(maps.Keys(c.written)) {
		owner, last := c.owner(slot), int64(-1)
		c.each(func(s *server) {
			if s == owner || owner != nil && s.primary() && s.open[slot].Importing {
				last = max(last, s.data[slot].last)
			}
		})
		if last < c.written[slot] {
			slots = append(slots, slot)
		}
	}
	return slots
}
