package node

import (
	"context"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// awaitsSlots says that slots are on their way from or to the server, and why it must not hand over yet. Its replica would
// claim what it saw the server own, while another is just getting it.
//
// Jobs in their last step are waited for, which takes a moment. The others are cancelled, so that none gets there meanwhile:
// the manager begins them again.
func (h *Handover) awaitsSlots(ctx context.Context, client servers, self *topology.Server) (words string, waits bool) {
	if !wire.MovesWhole(self.Version) {
		return "", false
	}
	jobs, err := client.SlotMigrations(ctx, wire.Target{Addr: h.Addr, ID: self.ID})
	if err != nil {
		return err.Error(), true
	}
	for _, j := range jobs {
		switch {
		case j.Ended():
		case j.ChangesHands():
			return "slots are just changing hands", true
		default:
			words, waits = "slots are on their way", true
			h.cancel(ctx, client, self, j)
		}
	}
	return words, waits
}

// cancel ends the jobs of a source of slots.
func (h *Handover) cancel(ctx context.Context, client servers, self *topology.Server, j topology.SlotJob) {
	source := wire.Target{Addr: h.Addr, ID: self.ID}
	if j.Importing {
		for _, p := range self.View {
			if p.ID == j.Source {
				source = wire.Target{Addr: p.Addr, ID: p.ID}
			}
		}
	}
	h.say("cancelling the move of slots from %s", source.ID)
	if err := client.CancelSlotMigrations(ctx, source); err != nil {
		h.say("%v", err)
	}
}
