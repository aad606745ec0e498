package node

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// slotsWithin is half of what a hand-over may take, as a rule.
const slotsWithin = 10 * time.Second

// awaitsSlots says that slots are on their way from or to the server, and why it must not hand over yet. Its replica would
// claim what it saw the server own, while another is just getting it. No other moves begin meanwhile: the manager sees
// that the server is about to stop.
func (w *waiting) awaitsSlots(ctx context.Context, self *topology.Server) (words string, waits bool) {
	if !wire.MovesWhole(self.Version) {
		return "", false
	}
	own := wire.Target{Addr: w.Addr, ID: self.ID}
	jobs, err := w.client.SlotMigrations(ctx, own)
	switch {
	case errors.Is(err, wire.ErrMalformed) || errors.Is(err, wire.ErrDenied):
		return "", false // it would be so at the next look, too
	case err != nil:
		return err.Error(), true
	}
	under := slices.DeleteFunc(jobs, topology.SlotJob.Ended)
	switch {
	case len(under) == 0:
		return "", false
	case slices.ContainsFunc(under, topology.SlotJob.ChangesHands):
		return "slots are just changing hands", true
	}
	if w.slotsSince.IsZero() {
		w.slotsSince = time.Now()
	}
	if time.Since(w.slotsSince) > cmp.Or(w.SlotsWithin, slotsWithin) {
		w.cancelMoves(ctx, self, under)
	}
	return "slots are on their way", true
}

// cancelMoves cancels moves that do not get on. A server cancels all of its own at once, so none of them may be in its last
// step: it would take writes again for slots that another owns by now.
func (w *waiting) cancelMoves(ctx context.Context, self *topology.Server, jobs []topology.SlotJob) {
	for _, source := range sourcesOf(self, w.Addr, jobs) {
		theirs, err := w.client.SlotMigrations(ctx, source)
		if err != nil || slices.ContainsFunc(theirs, topology.SlotJob.ChangesHands) {
			continue
		}
		w.say("cancelling the move of slots from %s", source.ID)
		if err := w.client.CancelSlotMigrations(ctx, source); err != nil {
			w.say("%v", err)
		}
	}
}

// sourcesOf are the servers that send slots.
func sourcesOf(self *topology.Server, addr string, jobs []topology.SlotJob) (sources []wire.Target) {
	for _, j := range jobs {
		source := wire.Target{Addr: addr, ID: self.ID}
		if j.Importing {
			p, _ := self.Peer(j.Source)
			source = wire.Target{Addr: p.Addr, ID: p.ID}
		}
		if source.Addr != "" && !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	return sources
}
