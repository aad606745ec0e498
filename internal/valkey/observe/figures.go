package observe

import (
	"cmp"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Figures are what one look comes to in numbers, for metrics.
type Figures struct {
	SlotsServed    int // that have an owner which says that it serves
	ReplicasInSync int
	Lag            Lag
	// Memory and MemoryLimit are bytes of the server that is closest to its limit, or uses the
	// most where there is none.
	Memory, MemoryLimit int64
}

// Lag is how many bytes of its primary's changes a replica has not applied yet.
type Lag struct {
	Bytes int64
	Known bool // some replica, and what it follows, could be compared
}

// Figures counts what the servers said.
func (a Answers) Figures() (f Figures) {
	var served []string
	byID := make(map[string]*topology.Server, len(a.Servers))
	for _, s := range a.Servers {
		byID[s.ID] = s
	}
	var fullest *topology.Server
	for _, s := range a.Servers {
		self := s.Self()
		if s.OK && self.Follows == "" {
			served = append(served, string(self.Slots))
		}
		if self.Follows != "" {
			f.addReplica(s, byID[self.Follows])
		}
		if fullest == nil || isFuller(s, fullest) {
			fullest = s
		}
	}
	if all, err := topology.ParseSlots(strings.Join(served, " ")); err == nil { // they were parsed before
		f.SlotsServed = all.Count()
	}
	if fullest != nil {
		f.Memory, f.MemoryLimit = fullest.Memory, fullest.MemoryLimit
	}
	return f
}

// addReplica counts a replica; primary is nil if it does not answer. Offsets in two histories
// cannot be compared: such a replica has to copy everything first.
func (f *Figures) addReplica(s, primary *topology.Server) {
	inSync := s.Synced && s.Copies()
	if inSync {
		f.ReplicasInSync++
	}
	wrote := s.PrimaryOffset
	switch {
	case primary != nil && primary.History == s.History:
		wrote = primary.Offset
	case !inSync:
		return
	}
	f.Lag = Lag{Bytes: max(f.Lag.Bytes, wrote-s.Offset), Known: true}
}

// isFuller says that a is closer to its limit than b. Their map has no order, so the ID decides
// between equals: a metric that jumps between two servers would look like news.
func isFuller(a, b *topology.Server) bool {
	return cmp.Or(cmp.Compare(fullness(a), fullness(b)), cmp.Compare(a.Memory, b.Memory), cmp.Compare(b.ID, a.ID)) > 0
}

func fullness(s *topology.Server) float64 {
	if s.MemoryLimit <= 0 {
		return 0
	}
	return float64(s.Memory) / float64(s.MemoryLimit)
}
