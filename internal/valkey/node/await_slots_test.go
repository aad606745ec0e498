package node

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// moving is servers that move slots as a whole.
type moving struct {
	settled
	states    *[]string // of the one job, from look to look; the last stays
	importing bool
	elsewhere string // is the state of another job of the source
	cancelled *[]string
}

func (m moving) SlotMigrations(_ context.Context, at wire.Target) ([]topology.SlotJob, error) {
	if at.Addr != primaryAddr {
		return []topology.SlotJob{{State: m.elsewhere}}, nil
	}
	state := (*m.states)[0]
	if len(*m.states) > 1 {
		*m.states = (*m.states)[1:]
	}
	return []topology.SlotJob{{State: state, Importing: m.importing, Source: m.idOf("10.0.0.2:6379")}}, nil
}

func (m moving) idOf(addr string) string {
	s, _ := m.Cluster.Ask(context.Background(), addr)
	return s.ID
}

func (m moving) CancelSlotMigrations(_ context.Context, at wire.Target) error {
	*m.cancelled = append(*m.cancelled, at.Addr)
	*m.states = []string{topology.JobCancelled}
	return nil
}

func (m moving) Failover(ctx context.Context, at wire.Target, mode wire.FailoverMode) error {
	if last := (*m.states)[0]; last != topology.JobCancelled && last != topology.JobSuccess {
		*m.asked = append(*m.asked, "while "+last)
	}
	return m.settled.Failover(ctx, at, mode)
}

// A server hands over only when no slots are on their way from it or to it.
func TestSlotsAreWaitedForBeforeHandingOver(t *testing.T) {
	for what, c := range map[string]struct {
		version   string
		states    []string
		importing bool
		elsewhere string
		cancelled string
	}{
		"nothing is on its way":     {"9.1.2", []string{topology.JobSuccess}, false, "", ""},
		"slots just go":             {"9.1.2", []string{"failover-paused", "failover-granted", topology.JobSuccess}, false, "", ""},
		"slots just come":           {"9.1.2", []string{"failover-requested", topology.JobSuccess}, true, "", ""},
		"slots arrive":              {"9.1.2", []string{"snapshotting", "waiting-to-pause", "failover-paused", topology.JobSuccess}, false, "", ""},
		"slots are to go":           {"9.1.2", []string{"snapshotting"}, false, "", primaryAddr},
		"slots are to come":         {"9.1.2", []string{"receiving-snapshot"}, true, "snapshotting", "10.0.0.2:6379"},
		"it cannot move them whole": {"8.1.1", []string{topology.JobSuccess}, false, "", ""},
	} {
		t.Run(what, func(t *testing.T) {
			m := moving{trio(t, c.version), &c.states, c.importing, c.elsewhere, new([]string)}
			h := &Handover{Addr: primaryAddr, Within: time.Minute, SlotsWithin: time.Second, Say: func(string) {}}
			if err := h.by(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			asked := strings.TrimSpace(strings.Join(*m.asked, ", "))
			if asked != replicaAddr || strings.Join(slices.Compact(*m.cancelled), ", ") != c.cancelled {
				t.Errorf("asked %q, cancelled %v", asked, *m.cancelled)
			}
		})
	}
}

// A server cancels all of its moves at once, so it is not asked to while slots of any of them change hands: it would take
// writes again that another server should get.
func TestMovesAreNotCancelledWhileOthersChangeHands(t *testing.T) {
	m := moving{trio(t, "9.1.2"), &[]string{"receiving-snapshot"}, true, "failover-granted", new([]string)}
	h := &Handover{Addr: primaryAddr, Within: 2 * time.Second, SlotsWithin: 1, Say: func(string) {}}
	if err := h.by(t.Context(), m); err == nil || len(*m.cancelled) > 0 || len(*m.asked) > 0 {
		t.Errorf("cancelled at %v, asked %v: %v", *m.cancelled, *m.asked, err)
	}
}
