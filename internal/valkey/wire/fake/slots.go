package fake

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// CountKeysInSlots implements wire.SlotReader.
func (c *Cluster) CountKeysInSlots(_ context.Context, at wire.Target, slots topology.Slots) (map[int]int, error) {
	counts := map[int]int{}
	return counts, c.tell(at, func(s *server) error {
		for _, slot := range slots.List() {
			counts[slot] = s.data[slot].keys
		}
		return nil
	})
}

// KeysInSlot implements wire.SlotReader. Keys have no names of their own here.
func (c *Cluster) KeysInSlot(_ context.Context, at wire.Target, slot, most int) (keys []string, err error) {
	return keys, c.tell(at, func(s *server) error {
		for i := range min(most, s.data[slot].keys) {
			keys = append(keys, fmt.Sprintf("%d:%d", slot, i))
		}
		return nil
	})
}

// SetSlotsImporting implements wire.Mover.
func (c *Cluster) SetSlotsImporting(_ context.Context, at wire.Target, slots topology.Slots, from string) error {
	return c.setSlots(at, slots, from, func(s *server, slot int) error {
		if s.self().slots.Overlaps(topology.Range(slot, slot)) {
			return fmt.Errorf("import slot %d: %w: it owns it", slot, wire.ErrRefused)
		}
		s.open[slot] = topology.OpenSlot{Slot: slot, Peer: from, Importing: true}
		return nil
	})
}

// SetSlotsMigrating implements wire.Mover.
func (c *Cluster) SetSlotsMigrating(_ context.Context, at wire.Target, slots topology.Slots, to string) error {
	return c.setSlots(at, slots, to, func(s *server, slot int) error {
		if !s.self().slots.Overlaps(topology.Range(slot, slot)) {
			return fmt.Errorf("migrate slot %d: %w: it does not own it", slot, wire.ErrRefused)
		}
		s.open[slot] = topology.OpenSlot{Slot: slot, Peer: to}
		return nil
	})
}

// SetSlotsStable implements wire.Mover.
func (c *Cluster) SetSlotsStable(_ context.Context, at wire.Target, slots topology.Slots) error {
	return c.setSlots(at, slots, at.ID, func(s *server, slot int) error {
		delete(s.open, slot)
		return nil
	})
}

// SetSlotsNode implements wire.Mover. The new owner takes a new epoch, so that it is
// believed by all, whatever the former one still holds.
func (c *Cluster) SetSlotsNode(_ context.Context, at wire.Target, slots topology.Slots, owner string) error {
	return c.setSlots(at, slots, owner, func(s *server, slot int) error {
		one := topology.Range(slot, slot)
		if s.self().slots.Overlaps(one) && owner != s.id && s.data[slot].keys > 0 {
			return fmt.Errorf("give slot %d: %w", slot, wire.ErrNotBlank)
		}
		if owner == s.id && s.open[slot].Importing {
			highest := s.epoch
			for _, p := range s.view {
				highest = max(highest, p.epoch)
			}
			if s.self().epoch == 0 || s.self().epoch < highest {
				s.epoch = highest + 1
				s.self().epoch = s.epoch
			}
		}
		for _, p := range s.view {
			p.slots = p.slots.Without(one)
		}
		s.view[owner].slots = s.view[owner].slots.With(one)
		delete(s.open, slot)
		return nil
	})
}

// setSlots changes one slot after the other until one is refused. What a primary is
// told its replicas are told as well, as far as they follow it.
func (c *Cluster) setSlots(at wire.Target, slots topology.Slots, peer string, change func(*server, int) error) error {
	return c.tell(at, func(s *server) error {
		switch p := s.view[peer]; {
		case !s.primary():
			return fmt.Errorf("set slots at %s: %w: it is a replica", at.Addr, wire.ErrRefused)
		case p == nil:
			return fmt.Errorf("set slots at %s: %w", at.Addr, wire.ErrUnknownPeer)
		case p.follows != "":
			return fmt.Errorf("set slots at %s: %w: the other is a replica", at.Addr, wire.ErrRefused)
		}
		s.open = maps.Clone(s.open)
		for _, slot := range slots.List() {
			if err := change(s, slot); err != nil {
				return err
			}
		}
		c.each(func(r *server) {
			if r.synced && r.self().follows == s.id {
				r.open = maps.Clone(s.open)
			}
		})
		return nil
	})
}

// MigrateKeys implements wire.Mover.
func (c *Cluster) MigrateKeys(_ context.Context, at wire.Target, m wire.Migration) error {
	return c.tell(at, func(s *server) error {
		if !c.up(m.To) || !c.servers[m.To].primary() {
			return fmt.Errorf("migrate keys to %s: %w", m.To, wire.ErrRefused)
		}
		to := c.servers[m.To]
		for _, batch := range m.Batches {
			for _, key := range batch {
				number, _, _ := strings.Cut(key, ":")
				slot, err := strconv.Atoi(number)
				if err != nil {
					return fmt.Errorf("migrate %q: %w: %w", key, wire.ErrRefused, err)
				}
				if !to.open[slot].Importing && !to.self().slots.Overlaps(topology.Range(slot, slot)) {
					return fmt.Errorf("migrate %q: %w: the other does not take it", key, wire.ErrRefused)
				}
				give(s, to, slot)
			}
		}
		return nil
	})
}

// give moves one key, if there is one.
func give(from, to *server, slot int) {
	h := from.data[slot]
	if h.keys == 0 {
		return
	}
	from.data, to.data = maps.Clone(from.data), maps.Clone(to.data)
	theirs := to.data[slot]
	theirs.keys++
	if h.keys--; h.keys > 0 {
		from.data[slot] = h
	} else { // the newest write is taken to be in the last key
		theirs.last = max(theirs.last, h.last)
		delete(from.data, slot)
	}
	to.data[slot] = theirs
	from.offset++
	to.offset++
}
