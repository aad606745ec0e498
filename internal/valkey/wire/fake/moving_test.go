package fake

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// mover brings one slot from shard 0 to shard 1, one command at a time, by nothing but
// what it sees: so it goes on wherever it is stopped.
type mover struct {
	*Cluster
	targets []wire.Target
	slot    topology.Slots
	proven  bool // it waits for a proof before it names the new owner
}

// step is the next command, and whether the slot has arrived.
func (m mover) step(ctx context.Context) (arrived bool) {
	n := nodes(m.Cluster, m.targets)
	source, from := m.primary(n, func(s *topology.Server) bool { return s.Self().Slots.Overlaps(m.slot) })
	target, to := m.primary(n[2:4], func(s *topology.Server) bool { return s.Self().Slots != "" })
	if source == nil || target == nil || source.ID == target.ID {
		return source != nil && target != nil
	}
	slot := m.slot.List()[0]
	if peer, open := target.Imports(slot); !open || peer != source.ID {
		_ = m.SetSlotsImporting(ctx, to, m.slot, source.ID)
		return false
	}
	if peer, open := source.Migrates(slot); !open || peer != target.ID {
		_ = m.SetSlotsMigrating(ctx, from, m.slot, target.ID)
		return false
	}
	if keys, _ := m.KeysInSlot(ctx, from, slot, 1); len(keys) > 0 && m.proven {
		_ = m.MigrateKeys(ctx, from, wire.Migration{To: to.Addr, Batches: [][]string{keys}})
		return false
	}
	counts, err := m.CountKeysInSlots(ctx, from, m.slot)
	_, doubt := plan.ProveSetSlotNode(n, plan.Given{Slots: m.slot, Source: source.ID, Target: target.ID, Keys: counts})
	if err == nil && doubt == "" || !m.proven {
		_ = m.SetSlotsNode(ctx, to, m.slot, target.ID)
	}
	return false
}

// primary is the one of these servers that is meant and leads.
func (m mover) primary(n topology.Nodes, is func(*topology.Server) bool) (s *topology.Server, at wire.Target) {
	for _, node := range n {
		if node.Server != nil && node.Server.Self().Follows == "" && is(node.Server) {
			if s == nil || node.Server.Self().Epoch > s.Self().Epoch {
				s, at = node.Server, wire.Target{Addr: node.Addr, ID: node.Server.ID}
			}
		}
	}
	return s, at
}

// A slot arrives with every write that was acknowledged, whatever writers and failovers
// do meanwhile and however late anybody hears of it. On the way it may be out of sight:
// who becomes primary before it had a link does not know that it takes the slot.
func TestProvenMovesLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		c, targets := formed(t, rapid.SampledFrom([]string{"8.0.1", "8.1.1", "9.1.2"}).Draw(t, "version"))
		m := mover{Cluster: c, targets: targets, slot: "0", proven: true}
		c.Put(0)
		c.Put(0)
		for range 40 {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				c.Put(0)
			case 1:
				to := rapid.SampledFrom(targets[:4]).Draw(t, "to")
				if _, ready := nodes(c, targets).Handover(to.ID, 2); ready {
					_ = c.Failover(ctx, to, wire.Agreed)
				}
			case 2: // messages take less than a failover is given
				c.Settle()
				c.Advance(11 * time.Second)
			case 3: // one thing at a time: a failover that was asked for comes first
				if !pending(c) {
					m.step(ctx)
				}
			default:
				if steps := c.Steps(); len(steps) > 0 {
					c.Deliver(rapid.SampledFrom(steps).Draw(t, "step"))
				}
			}
		}
		arrived := false
		for i := 0; i < 100 && !arrived; i++ {
			c.Settle()
			c.Advance(11 * time.Second)
			arrived = m.step(ctx)
		}
		c.Settle()
		if !arrived || len(c.Lost()) > 0 {
			t.Fatalf("arrived %t, lost %v", arrived, c.Lost())
		}
	})
}

// pending says that a failover was asked for and may still come.
func pending(c *Cluster) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.manual != nil || c.now < s.paused {
			return true
		}
	}
	return false
}

// Without the proof the same mover loses writes: the property above can fail.
func TestUnprovenMovesLose(t *testing.T) {
	c, targets := formed(t, "8.1.1")
	m := mover{Cluster: c, targets: targets, slot: "0"}
	c.Put(0)
	for range 5 {
		m.step(t.Context())
		c.Settle()
	}
	if len(c.Lost()) == 0 {
		t.Error("nothing is lost")
	}
}
