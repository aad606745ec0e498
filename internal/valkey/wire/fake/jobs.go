package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// SlotMigrations implements wire.SlotReader.
func (c *Cluster) SlotMigrations(_ context.Context, at wire.Target) (jobs []topology.SlotJob, err error) {
	return jobs, c.tell(at, func(s *server) error {
		jobs = slices.Clone(s.jobs)
		return whole(s)
	})
}

func whole(s *server) error {
	if !wire.MovesWhole(s.version) {
		return fmt.Errorf("%w: it cannot move slots as a whole", wire.ErrRefused)
	}
	return nil
}

// MigrateSlots implements wire.Mover. What the server can see for itself it refuses at
// once; all else comes out when the job runs.
func (c *Cluster) MigrateSlots(_ context.Context, at wire.Target, moves []wire.SlotsTo) error {
	return c.tell(at, func(s *server) error {
		for _, m := range moves {
			switch {
			case whole(s) != nil:
				return whole(s)
			case s.view[m.To] == nil:
				return fmt.Errorf("migrate slots to %s: %w", m.To, wire.ErrUnknownPeer)
			case !s.primary() || m.Slots.Without(s.self().slots) != "" || m.To == s.id || s.moving().Overlaps(m.Slots):
				return fmt.Errorf("migrate slots %s: %w", m.Slots, wire.ErrRefused)
			}
		}
		for _, m := range moves {
			c.created++
			j := topology.SlotJob{Name: made("job", c.created), Slots: m.Slots, Source: s.id, Target: m.To, State: "connecting"}
			s.jobs = slices.Insert(s.jobs, 0, j)
		}
		return nil
	})
}

func (s *server) moving() (slots topology.Slots) {
	for _, j := range s.jobs {
		if !j.Importing && !j.Ended() {
			slots = slots.With(j.Slots)
		}
	}
	return slots
}

// CancelSlotMigrations implements wire.Mover.
func (c *Cluster) CancelSlotMigrations(_ context.Context, at wire.Target) error {
	return c.tell(at, func(s *server) error {
		s.end(topology.JobCancelled, "")
		return whole(s)
	})
}

// end ends every job that is under way.
func (s *server) end(state, message string) {
	s.jobs = slices.Clone(s.jobs)
	for i := range s.jobs {
		if !s.jobs[i].Ended() {
			s.jobs[i].State, s.jobs[i].Message = state, message
		}
	}
}

// run carries a job out: all or nothing.
func (c *Cluster) run(s *server, name string) {
	i := slices.IndexFunc(s.jobs, func(j topology.SlotJob) bool { return j.Name == name && !j.Ended() })
	if i < 0 {
		return
	}
	s.jobs = slices.Clone(s.jobs)
	j := &s.jobs[i]
	peer := s.view[j.Target]
	if peer == nil || !c.finds(j.Target, peer.addr) || whole(c.servers[peer.addr]) != nil || !c.servers[peer.addr].primary() {
		j.State, j.Message = topology.JobFailed, "the target does not take it"
		return
	}
	to := c.servers[peer.addr]
	j.State = topology.JobSuccess
	to.take(s, j.Slots)
	s.drop(to, j.Slots)
	theirs := *j
	theirs.Importing = true
	to.jobs = slices.Insert(slices.Clone(to.jobs), 0, theirs)
}

// take makes slots and their keys the server's own, under a new epoch.
func (s *server) take(from *server, slots topology.Slots) {
	s.epoch = max(s.epoch, from.epoch) + 1
	s.self().epoch = s.epoch
	for _, p := range s.view {
		p.slots = p.slots.Without(slots)
	}
	s.self().slots = s.self().slots.With(slots)
	s.data = maps.Clone(s.data)
	for _, slot := range slots.List() {
		if h, has := from.data[slot]; has {
			s.data[slot] = h
			s.offset++
		}
	}
}

// drop is the other side of take.
func (s *server) drop(to *server, slots topology.Slots) {
	s.epoch = max(s.epoch, to.epoch)
	s.self().slots = s.self().slots.Without(slots)
	s.view[to.id].slots, s.view[to.id].epoch = s.view[to.id].slots.With(slots), to.self().epoch
	s.data = maps.Clone(s.data)
	for _, slot := range slots.List() {
		delete(s.data, slot)
	}
	s.offset++
}
