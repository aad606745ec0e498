package wiretest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Cluster is a number of blank servers to run one script on.
type Cluster struct {
	wire.Reader
	wire.Writer
	Addrs []string
	// Until lets the servers talk until done says so, or nothing more happens.
	Until func(ctx context.Context, done func() bool) error
	// Glimpse is Until for what lasts only a moment, and may be over before nothing more happens.
	Glimpse func(ctx context.Context, done func() bool) error

	// What follows is needed only by scripts that use it.

	Mover Mover
	// Elapse lets time pass, and the servers talk.
	Elapse func(ctx context.Context, d time.Duration) error
	// Kill ends a server; Start starts it again, as it says, and returns where.
	Kill  func(addr string) error
	Start func(addr string, how Restart) (string, error)
	// Version is that of the servers.
	Version string
}

// Mover is a wire.Mover to whose servers keys can be written.
type Mover interface {
	wire.Mover
	// PutAt writes so many new keys of a slot to one server, and follows no redirect.
	PutAt(ctx context.Context, at wire.Target, slot, keys int) error
}

// Restart is how a server comes back: with the data and the nodes.conf that it had, or
// without, and at the address that it had, or at a new one.
type Restart struct {
	Forgets, Empties, Moves bool
	// MistakesForPrimary is the ID of a replica that it takes for a primary, of an epoch above all others: it was one once, and a
	// message from then came last.
	MistakesForPrimary string
}

// Servers is how many servers a script may use.
const Servers = 6

// Run runs every script in dir, each on a cluster of its own.
//
//	form               the servers become three shards: 0 with 1, 2 with 3, 4 with 5
//	meet 0 1 2         server 0 introduces itself to 1 and 2
//	add-slots 0 0-99   server 0 takes slots
//	replicate 3 0      server 3 follows server 0
//	mistake 0 1        server 0 is told something that is meant for server 1
//	failover 1 [force|takeover]
//	forget 0 5         server 0 forgets server 5
//	reset 5 [hard]
//	config 0 name=value
//	put 0 93 5         five keys of slot 93 are written to server 0
//	timeout 0          how long it lets others be out of reach
//	keys 0 93          how many keys of slots server 0 holds
//	importing 2 93 0   server 2 gets slots from 0; so do migrating, node and stable
//	migrate-keys 0 93 2
//	migrate-slots 0 93 2 94-95 4
//	cancel 0
//	jobs 0             how its jobs ended
//	kill 0             the process ends
//	start 0 [forgets] [empties] [moves]
//	start 0 mistakes 1
//	raise-epoch 0      server 0 takes an epoch above all others
//	await what         until servers see it; see below
//	glimpse what       until servers see it for a moment
//	never what for=3s  it does not come to that
//	elapse 3s
//	show 0 1           what these servers say, by number instead of ID
//
// What is awaited is met, agree or ok (with among=(0,1) only of those), or a fact:
// primary 1, replica 0, failed 0 (in the eyes of all others that run), forgotten 5 (by
// all others that run), missed 0 (nobody listens there, and nobody has a connection to it), known 5, listed 5 (by one of the others), informed 5 (it sees all others that run as they are), jobs 0 (all ended).
//
// Where versions differ the script says so: a command with since=9.1 or before=8.1 is
// left out on all others.
func Run(t *testing.T, dir string, start func(t *testing.T) Cluster) {
	begin := func(t *testing.T) script.Perform {
		s := &play{Cluster: start(t), ids: map[string]string{}, dead: map[int]bool{}}
		for i, addr := range s.Addrs {
			server, err := s.Ask(t.Context(), addr)
			if err != nil {
				t.Fatal(err)
			}
			s.ids[server.ID] = strconv.Itoa(i)
			s.targets = append(s.targets, wire.Target{Addr: addr, ID: server.ID})
		}
		return s.perform
	}
	script.Run(t, dir, begin, wire.ErrUnreachable, wire.ErrOtherServer, wire.ErrLoading, wire.ErrDenied,
		wire.ErrUnknownPeer, wire.ErrNotBlank, wire.ErrRefused, wire.ErrMalformed)
}

func (s *play) perform(ctx context.Context, l script.Line) (string, error) {
	if s.elsewhere(l.Named) {
		return l.Expected, nil
	}
	return s.command(ctx, l.Name, l.Words, l.Named)
}

// play is one script on one cluster.
type play struct {
	Cluster
	targets []wire.Target
	ids     map[string]string // from ID to number
	dead    map[int]bool
}

// elsewhere says that a command is meant for servers of other versions.
func (s *play) elsewhere(named map[string][]string) bool {
	since, before := named["since"], named["before"]
	return since != nil && topology.Older(s.Version, since[0]) || before != nil && !topology.Older(s.Version, before[0])
}

func (s *play) numbered(args []string) (targets []wire.Target) {
	for _, a := range args {
		if i, err := strconv.Atoi(a); err == nil && i < len(s.targets) {
			targets = append(targets, s.targets[i])
		}
	}
	return targets
}

func (s *play) one(arg string) wire.Target {
	if list := s.numbered([]string{arg}); len(list) == 1 {
		return list[0]
	}
	return wire.Target{}
}
