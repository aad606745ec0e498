package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// ErrNotHandedOver says that the server is still a primary.
var ErrNotHandedOver = errors.New("not handed over")

const (
	// lag is how many bytes a replica may lack: writes are paused until it has them.
	lag = 1 << 20
	// attempt is how long a failover is given; servers below 8.1 need all of it.
	attempt    = 2500 * time.Millisecond
	oldAttempt = 5500 * time.Millisecond
	// aloneFor is how long replicas may all be silent: with a cluster that is deleted they
	// go, too.
	aloneFor = 5 * time.Second
)

// Handover makes a replica the primary in place of a server that is about to stop.
type Handover struct {
	Addr   string
	Access Access
	// Within is how long it may take to hand over to a replica that has a copy.
	Within time.Duration
	// CopyWithin is how long to wait for a copy of data that is nowhere else; 0 is that it is on a volume.
	CopyWithin time.Duration
	// Replicas is a file with how many copies there should be; without it, there should be some.
	Replicas string
	// SlotsWithin is how long slots that are on their way may take to arrive before their moves are cancelled; 0 is ten seconds.
	SlotsWithin time.Duration
	// Linger is how long the server goes on to tell clients where their keys are now.
	Linger time.Duration
	// Noted is the file in which Note keeps since when the server is a primary.
	Noted string
	Say   func(words string)
}

func (h *Handover) say(format string, args ...any) { h.Say(fmt.Sprintf(format, args...)) }

// Do returns nil when the server may be stopped without harm.
func (h *Handover) Do(ctx context.Context) error {
	client, err := h.Access.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if mark, err := open(h.Addr, h.Access, wire.StoppingClient); err == nil {
		defer mark.Close()
	}
	return h.by(ctx, client)
}

// servers is what a hand-over asks of servers, and tells them.
type servers interface {
	wire.Reader
	Failover(ctx context.Context, at wire.Target, mode wire.FailoverMode) error
	Stopping(ctx context.Context, addr string) (bool, error)
	SlotMigrations(ctx context.Context, at wire.Target) ([]topology.SlotJob, error)
	CancelSlotMigrations(ctx context.Context, at wire.Target) error
}

func (h *Handover) by(ctx context.Context, client servers) error {
	ctx, cancel := context.WithTimeout(ctx, h.Within+h.CopyWithin)
	defer cancel()
	began := time.Now()
	handed, err := h.until(ctx, client)
	if err != nil || !handed {
		return err
	}
	h.say("handed over in %s", time.Since(began).Round(time.Millisecond))
	pause(ctx, h.Linger)
	return nil
}

// until tries until another is the primary. It is over at once for a server that has
// nothing to hand over or no replica to hand it to, unless it must wait for a copy.
func (h *Handover) until(ctx context.Context, client servers) (handed bool, err error) {
	w := &waiting{Handover: h, client: client, heard: time.Now(), copied: time.Now(), until: time.Now().Add(h.CopyWithin)}
	for {
		self, err := client.Ask(ctx, h.Addr)
		if err != nil {
			// One that is busy for a moment is not one that has nothing to hand over.
			if ended(err) || !pause(ctx, lookEvery) {
				return false, fmt.Errorf("%w: %w", ErrNotHandedOver, err)
			}
			continue
		}
		view := around(ctx, client, self)
		step := next(self, view)
		waits := w.awaitsCopy(ctx, step, self, view)
		if !waits && (step.done || w.aloneForLong(step)) {
			h.say("%s", step.words)
			return false, nil
		}
		handed, wait, words := w.take(ctx, self, view, step)
		if handed {
			return true, nil
		}
		if late := !waits && time.Since(w.copied)+wait > h.Within; late || !pause(ctx, wait) {
			return false, fmt.Errorf("%w: %s", ErrNotHandedOver, words)
		}
	}
}

// take takes one step, or says for how long to wait until the next, and why.
func (w *waiting) take(ctx context.Context, self *topology.Server, view topology.Nodes, s step) (handed bool, wait time.Duration, why string) {
	if s.to == nil {
		return false, lookEvery, s.words
	}
	if wait := w.spacing(self, view); wait > 0 {
		return false, wait, "the voters voted only just"
	}
	if words, waits := w.awaitsSlots(ctx, self); waits {
		return false, lookEvery, words
	}
	if w.try(ctx, w.client, view, *s.to) {
		return true, 0, ""
	}
	_, afterFailure := view.Spacing()
	return false, max(lookEvery, afterFailure), s.to.Addr + " was asked, and nothing came of it"
}

// ended says that there is no server that could hand over anything.
func ended(err error) bool {
	return errors.Is(err, wire.ErrConnectionRefused) || errors.Is(err, wire.ErrLoading)
}

// try asks for a failover and waits for what comes of it.
func (h *Handover) try(ctx context.Context, client servers, view topology.Nodes, to topology.Node) bool {
	h.say("handing over to %s at %s", to.Server.ID, to.Addr)
	within := attempt
	if spaced, _ := view.Spacing(); spaced > 0 {
		within = oldAttempt
	}
	if err := client.Failover(ctx, wire.Target{Addr: to.Addr, ID: to.Server.ID, Mark: to.Server.Mark}, wire.Agreed); err != nil {
		h.say("%v", err)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		if s, err := client.Ask(ctx, h.Addr); err == nil && s.Self().Follows != "" {
			return true
		}
		if !pause(ctx, lookEvery) {
			return false
		}
	}
}

// pause waits, and says false, at once, if that would take longer than all of it may.
func pause(ctx context.Context, d time.Duration) bool {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < d {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
