package act

import (
	"context"
	"math"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Limits of moving key by key.
const (
	slotsAtOnce = 16  // open between two servers at a time
	keysAtOnce  = 100 // that one MIGRATE sends: the source does nothing else meanwhile
	keysNamed   = 1000
	sendWithin  = 5 * time.Second
)

// slotTransfer is slots that go from one server to another, key by key.
type slotTransfer struct {
	from, to topology.Node
	slots    topology.Slots
}

// open are the slots that are half open, by who gives them to whom. They are finished
// wherever they were to go: keys are at both ends.
func (m *mover) open() (transfers []slotTransfer) {
	between := map[[2]string]*slotTransfer{}
	var order [][2]string
	add := func(slot int, from, to string) {
		source, here := m.nodes.ByID(from)
		target, there := m.nodes.ByID(to)
		if !here || !there {
			return
		}
		pair := [2]string{from, to}
		if between[pair] == nil {
			between[pair] = &slotTransfer{from: source, to: target}
			order = append(order, pair)
		}
		between[pair].slots = between[pair].slots.With(topology.Range(slot, slot))
	}
	for _, n := range m.nodes {
		if n.Server.Self().Follows != "" {
			continue
		}
		for _, o := range n.Server.Open {
			if o.Importing {
				add(o.Slot, o.Peer, n.Server.ID)
			} else {
				add(o.Slot, n.Server.ID, o.Peer)
			}
		}
	}
	busy := map[string]bool{}
	for _, pair := range order {
		if !busy[pair[0]] && !busy[pair[1]] { // the others have their turn
			busy[pair[0]], busy[pair[1]] = true, true
			transfers = append(transfers, *between[pair])
		}
	}
	return transfers
}

// batches are the next slots to give, between servers that are not busy with others.
func (m *mover) batches(moves []plan.Move) (transfers []slotTransfer) {
	busy := map[int]bool{}
	for _, move := range moves {
		if busy[move.From] || busy[move.To] {
			continue
		}
		source, here := m.primary(move.From)
		target, there := m.primary(move.To)
		if !here || !there {
			continue
		}
		busy[move.From], busy[move.To] = true, true
		slots := move.Split(min(slotsAtOnce, m.allowed.slots(source.Server, math.MaxInt64)))[0].Slots
		m.allowed.spend(source.Server, slots.Count())
		transfers = append(transfers, slotTransfer{source, target, slots})
	}
	return transfers
}

// transferAll moves slots between several pairs of servers at once.
func (m *mover) transferAll(ctx context.Context, transfers []slotTransfer) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, one := range transfers {
		g.Go(func() error { return m.transfer(ctx, one) })
	}
	return g.Wait()
}

// transfer opens slots, target first, or keys could be asked for where nobody takes them;
// sends every key; and lets the new owner be known, target first, or they would have
// none for a moment.
func (m *mover) transfer(ctx context.Context, g slotTransfer) error {
	source, target := targetOf(g.from), targetOf(g.to)
	closing := g.to.Server.Self().Slots.Overlaps(g.slots) // the target owns them already: only the source has yet to hear
	if !closing {
		if err := m.servers.SetSlotsImporting(ctx, target, g.slots, source.ID); err != nil {
			return classify(g.to.Name, err)
		}
		if err := m.servers.SetSlotsMigrating(ctx, source, g.slots, target.ID); err != nil {
			return classify(g.from.Name, err)
		}
	}
	counts, err := m.empty(ctx, g)
	if err != nil {
		return err
	}
	if err := m.proven(ctx, g, counts); err != nil {
		return err
	}
	for _, at := range []topology.Node{g.to, g.from} {
		if err := m.servers.SetSlotsNode(ctx, targetOf(at), g.slots, target.ID); err != nil {
			return classify(at.Name, err)
		}
	}
	return each(m.others(g), func(at topology.Node) error {
		return classify(at.Name, m.servers.SetSlotsNode(ctx, targetOf(at), g.slots, target.ID))
	})
}

// empty sends keys until the source holds none of the slots.
func (m *mover) empty(ctx context.Context, g slotTransfer) (map[int]int, error) {
	source := targetOf(g.from)
	for {
		counts, err := m.servers.CountKeysInSlots(ctx, source, g.slots)
		if err != nil {
			return nil, classify(g.from.Name, err)
		}
		send, err := m.agreed(ctx, m.sender(g.to.Addr), targetOf(g.to))
		if err != nil {
			return nil, classify(g.to.Name, err)
		}
		for _, slot := range g.slots.List() {
			if counts[slot] == 0 {
				continue
			}
			keys, err := m.servers.KeysInSlot(ctx, source, slot, keysNamed)
			if err != nil {
				return nil, classify(g.from.Name, err)
			}
			for len(keys) > 0 {
				n := min(keysAtOnce, len(keys))
				send.Batches, keys = append(send.Batches, keys[:n]), keys[n:]
			}
		}
		if len(send.Batches) == 0 {
			return counts, nil
		}
		if err := m.servers.MigrateKeys(ctx, source, send); err != nil {
			return nil, classify(g.from.Name, err)
		}
	}
}

// proven looks at both ends once more. If a slot were given while its source holds a
// key, or still takes new ones, that key would be deleted.
func (m *mover) proven(ctx context.Context, g slotTransfer, counts map[int]int) error {
	nodes := make(topology.Nodes, 0, 2)
	for _, n := range []topology.Node{g.from, g.to} {
		server, err := m.servers.Ask(ctx, n.Addr)
		if err != nil {
			return classify(n.Name, err)
		}
		if server.Mark != n.Server.Mark {
			return saying(n.Name, errSilent)
		}
		nodes = append(nodes, topology.Node{Pod: n.Pod, Server: server})
	}
	_, doubt := plan.ProveSetSlotNode(nodes, plan.Given{
		Slots: g.slots, Source: g.from.Server.ID, Target: g.to.Server.ID, Keys: counts,
	})
	if doubt != "" {
		return &fsm.Error{Class: fsm.Transient, Err: errNotGiven, Say: "A slot is not handed over yet: " + doubt + "."}
	}
	return nil
}

// others are the primaries that have no part in it, and are told so that they need not
// wait to hear of it. One that does not know the new owner would refuse.
func (m *mover) others(g slotTransfer) (nodes topology.Nodes) {
	for _, n := range m.nodes {
		if n.Server.Self().Follows == "" && n.Name != g.from.Name && n.Name != g.to.Name && n.Server.Knows(g.to.Server.ID) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// sender lets a server log on to another as servers do.
func (m *mover) sender(to string) wire.Migration {
	send := wire.Migration{To: to, Within: sendWithin}
	if keyed, is := m.servers.(Keyed); is {
		if passwords := keyed.Keys().Secrets.Replication; len(passwords) > 0 {
			send.User, send.Password = access.Replication, passwords[0].Reveal()
		}
	}
	return send
}
