package fake

import (
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// server is one process: what it is, and how it sees the others.
type server struct {
	id, shardID, addr, version string
	keys                       int
	down                       bool
	synced                     bool             // as a replica: it has the data of its primary
	timeout                    int              // in milliseconds
	view                       map[string]*peer // by ID, itself included
	met                        map[string]bool  // addresses with which it shakes hands
}

// peer is how one server sees one, itself included.
type peer struct {
	addr, follows, shardID string
	slots                  topology.Slots
}

func (s *server) self() *peer { return s.view[s.id] }

// primaryAddr is where a replica finds its primary, by its own view.
func (s *server) primaryAddr() string {
	if p := s.view[s.self().follows]; p != nil {
		return p.addr
	}
	return ""
}

// learn takes over what a known server says of itself. Of two that claim a slot,
// the one that had it keeps it.
func (s *server) learn(of *server) {
	told := *of.self()
	if told.follows != "" {
		told.slots = ""
	}
	for id, p := range s.view {
		if id != of.id {
			told.slots = told.slots.Without(p.slots)
		}
	}
	delete(s.met, of.addr)
	s.view[of.id] = &told
}

// hear takes over who else is known to a server that it knows: with those it
// shakes hands itself.
func (s *server) hear(from *server) {
	for id, p := range from.view {
		if s.view[id] == nil {
			s.met[p.addr] = true
		}
	}
}

// answer is what the server says when it is asked.
func (s *server) answer(up func(addr string) bool) *topology.Server {
	out := &topology.Server{ID: s.id, ShardID: s.shardID, Version: s.version, Empty: s.keys == 0,
		Synced: s.self().follows == "" || s.synced, OK: s.servable(up), Timeout: s.timeout}
	least := map[string]string{}
	for id, p := range s.view {
		if l, ok := least[p.shardID]; !ok || id < l {
			least[p.shardID] = id
		}
	}
	for id, p := range s.view {
		out.View = append(out.View, topology.Peer{
			ID: id, Addr: p.addr, Linked: id == s.id || up(p.addr),
			Claim: topology.Claim{Follows: p.follows, Slots: p.slots, Shard: least[p.shardID]},
		})
	}
	for addr := range s.met {
		made := "handshake with " + addr
		out.View = append(out.View, topology.Peer{ID: made, Addr: addr, State: topology.Handshake})
	}
	slices.SortFunc(out.View, func(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// servable is cluster_state: a majority of the servers with slots is in reach.
func (s *server) servable(up func(addr string) bool) bool {
	voters, reached := 0, 0
	for _, p := range s.view {
		if p.slots != "" {
			voters++
			if up(p.addr) {
				reached++
			}
		}
	}
	return voters > 0 && reached > voters/2
}
