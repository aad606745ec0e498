package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// whole says that every server that would take part can move slots as a whole.
func (m *mover) whole(moves []plan.Move) bool {
	for _, move := range moves {
		for _, shard := range []int{move.From, move.To} {
			if n, found := m.primary(shard); !found || !wire.MovesWhole(n.Server.Version) {
				return false
			}
		}
	}
	return true
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
