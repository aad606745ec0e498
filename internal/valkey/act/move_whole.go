package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Limits of what one server is told to send at a time. A job pauses writes at its end, and has a
// fixed cost: see decision 0028 for what smaller and larger ones came to.
const (
	jobBytes = 256 << 20
	jobs     = 16
)

// A source that failed so many times in a row, in the last while, sends its slots key by key.
const (
	mostAttempts = 3
	lastWhile    = 15 * time.Minute
)

// whole says that slots are moved as a whole: every server that would take part can, and no source has failed at it again and
// again. Key by key takes longer, and comes to an end whatever clients write meanwhile.
func (m *mover) whole(ctx context.Context, moves []plan.Move) (bool, error) {
	for _, n := range m.partakers(moves) {
		if n.Server == nil || !wire.MovesWhole(n.Server.Version) {
			return false, nil
		}
	}
	for _, n := range m.partakers(moves) {
		jobs, err := m.servers.SlotMigrations(ctx, targetOf(n))
		if err != nil {
			return false, err
		}
		if topology.FailedInARow(jobs, time.Now().Add(-lastWhile).Unix()) >= mostAttempts {
			return false, nil
		}
	}
	return true, nil
}

// stops says that a server that would take part is about to stop, and hands over first.
func (m *mover) stops(ctx context.Context, moves []plan.Move) (bool, error) {
	for _, n := range m.partakers(moves) {
		if stops, err := m.servers.Stopping(ctx, n.Addr); stops || err != nil {
			return stops, err
		}
	}
	return false, nil
}

// partakers are the primaries that give or get slots; one that is not found is empty.
func (m *mover) partakers(moves []plan.Move) (nodes topology.Nodes) {
	for _, move := range moves {
		for _, shard := range []int{move.From, move.To} {
			n, _ := m.primary(shard)
			if !slices.ContainsFunc(nodes, func(o topology.Node) bool { return o.Name == n.Name }) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// send tells every source to send what it has to give, one job after the other.
func (m *mover) send(ctx context.Context, moves []plan.Move) error {
	bySource := map[int][]wire.SlotsTo{}
	for _, move := range moves {
		source, _ := m.primary(move.From)
		target, _ := m.primary(move.To)
		for _, part := range move.Split(m.allowed.slots(source.Server, jobBytes)) {
			if len(bySource[move.From]) < jobs && (m.allowed.perSecond == 0 || len(bySource[move.From]) == 0) {
				bySource[move.From] = append(bySource[move.From], wire.SlotsTo{Slots: part.Slots, To: target.Server.ID})
			}
		}
	}
	for shard, parts := range bySource {
		source, _ := m.primary(shard)
		if m.sent[shard] { // and has ended since: did it come to anything?
			if why, err := m.failure(ctx, source); why != "" || err != nil {
				return errors.Join(err, saying(source.Name, fmt.Errorf("%w: %s", errJob, why)))
			}
		}
		if err := m.servers.MigrateSlots(ctx, targetOf(source), parts); err != nil {
			return classify(source.Name, err)
		}
		m.sent[shard] = true
		m.allowed.spend(source.Server, parts[0].Slots.Count())
	}
	return nil
}

// failure is what the newest job of a source ended with, if it did not succeed.
func (m *mover) failure(ctx context.Context, source topology.Node) (string, error) {
	list, err := m.servers.SlotMigrations(ctx, targetOf(source))
	if err != nil {
		return "", err
	}
	newest := slices.IndexFunc(list, func(j topology.SlotJob) bool { return !j.Importing })
	if newest < 0 || !list[newest].Ended() || list[newest].State == topology.JobSuccess {
		return "", nil
	}
	return list[newest].Message, nil
}
