package node

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// othersEvery is how often the others are asked whether they stop, too.
const othersEvery = time.Second

// waiting is what one hand-over remembers from look to look.
type waiting struct {
	*Handover
	client servers
	heard  time.Time // when a replica last answered
	copied time.Time // since when there is a copy, or no need to wait for one
	until  time.Time // how long to wait for one
	said   string

	slotsSince time.Time // since when slots are seen on their way

	asked    time.Time // when the others were last asked
	together bool      // they stop as well
}

// awaitsCopy says that the server must not stop yet, because what it holds is nowhere else.
func (w *waiting) awaitsCopy(ctx context.Context, s step, self *topology.Server, view topology.Nodes) bool {
	if !s.copyless || self.Empty || !time.Now().Before(w.until) || !w.wantsCopies() || w.othersStop(ctx, view) {
		return false
	}
	w.copied = time.Now()
	if w.said != s.words {
		w.said = s.words
		w.say("%s: waiting up to %s for a copy", s.words, time.Until(w.until).Round(time.Second))
	}
	return true
}

// aloneForLong says that replicas were silent for so long that they are taken for gone.
func (w *waiting) aloneForLong(s step) bool {
	if !s.alone {
		w.heard = time.Now()
	}
	return time.Since(w.heard) > aloneFor
}

// wantsCopies says that the cluster should have replicas. A file that cannot be read says nothing.
func (h *Handover) wantsCopies() bool {
	text, err := os.ReadFile(h.Replicas)
	if err != nil {
		return true
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return err != nil || n > 0
}

// othersStop says that no other primary stays: the whole cluster is being removed, and no copy will come.
func (w *waiting) othersStop(ctx context.Context, view topology.Nodes) bool {
	if time.Since(w.asked) < othersEvery {
		return w.together
	}
	w.asked, w.together = time.Now(), true
	for _, n := range view[1:] { // the first is this server
		if n.Server.Self().Slots == "" {
			continue
		}
		if stops, err := w.client.Stopping(ctx, n.Addr); err != nil || !stops {
			w.together = false
		}
	}
	// A server that gets no answer at all may itself be cut off: it waits a few seconds before it believes that the others are gone.
	if len(view) == 1 && time.Since(w.heard) <= aloneFor {
		w.together = false
	}
	return w.together
}
