package fake

import (
	"maps"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// server is one process: what it is, and how it sees the others.
type server struct {
	id, shardID, addr, version string
	mark                       string // of the pod that it runs in
	down                       bool
	stopping                   bool                     // its pod was told to stop
	over                       bool                     // it is down because its process ended
	hangsUp                    chan struct{}            // is closed when it ends; nil while nobody watches
	answers                    error                    // instead of any answer
	view                       map[string]*peer         // by ID, itself included
	met                        map[string]bool          // addresses with which it shakes hands
	knocks                     map[string]time.Duration // of those, where nobody answers, and since when
	banned                     map[string]time.Duration // who is not met by the word of others, and until when
	dropped                    map[string]time.Duration // who was forgotten, and when
	epoch                      int64                    // the highest that it heard of
	settings                   map[string]string

	// Its data, and how it came by them.
	data    map[int]held // by slot; copied before it is changed
	history string
	earlier earlier
	offset  int64
	synced  bool // as a replica: it has followed its primary since it copied it
	syncing bool // as a replica: it is being sent everything
	copied  bool // as a replica: it has copied its primary once

	open   map[int]topology.OpenSlot // copied before it is changed
	jobs   []topology.SlotJob        // the newest first
	manual *manual
	tried  time.Duration // when it last asked for votes; 0 is never
	paused time.Duration // until when it makes its clients wait

	logins
}

// peer is how one server sees one, itself included.
type peer struct {
	addr, follows, shardID string
	slots                  topology.Slots
	epoch                  int64
	state                  topology.State
	silent                 time.Duration // since when it is out of reach; 0 is not
	voted                  time.Duration // when a vote was last given to a replica of it; 0 is never
}

// held is what a server has of one slot.
type held struct {
	keys int
	last int64 // the newest write among them
}

// earlier is the history that a primary took over as a replica, and how far it was.
type earlier struct {
	history string
	offset  int64
}

// edit is how an exchange changes what a server thinks of one: it may be tried on a copy
// of the server, which has the same peers.
func (s *server) edit(id string) *peer {
	p := *s.view[id]
	s.view[id] = &p
	return &p
}

func (s *server) self() *peer { return s.view[s.id] }

func (s *server) primary() bool { return s.self().follows == "" }

// voter says that the server has a vote: it is a primary with slots.
func (s *server) voter() bool { return s.primary() && s.self().slots != "" }

// primaryAddr is where a replica finds its primary, by its own view.
func (s *server) primaryAddr() string {
	if p := s.view[s.self().follows]; p != nil {
		return p.addr
	}
	return ""
}

// alone makes the server forget everybody and its role.
func (s *server) alone() {
	s.view = map[string]*peer{s.id: {addr: s.addr, shardID: s.shardID}}
	s.met, s.banned, s.knocks = map[string]bool{}, map[string]time.Duration{}, map[string]time.Duration{}
	s.dropped = map[string]time.Duration{}
}

// restart is what a process loses: what it was told to be by settings, and all that it
// had under way.
func (s *server) restart(configured map[string]string) {
	s.settings = maps.Clone(configured)
	s.jobs, s.manual, s.tried, s.paused = nil, nil, 0, 0
	s.synced, s.syncing, s.down, s.answers = false, false, false, nil
	s.banned, s.dropped = map[string]time.Duration{}, map[string]time.Duration{}
}

func (s *server) keys() (n int) {
	for _, h := range s.data {
		n += h.keys
	}
	return n
}

func (s *server) older(than string) bool { return topology.Older(s.version, than) }
