package act

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

// mostSteps is more than any move here takes.
const mostSteps = 2000

// stocked is a cluster of four shards of a primary and a replica, the last without slots, with
// a key in some slots.
func stocked(t *testing.T, version string) (*fake.Cluster, *mover) {
	t.Helper()
	c, ctx := fake.New(), t.Context()
	m := &mover{servers: c, shards: 4, sent: map[int]bool{}}
	for i := range 8 {
		addr := fmt.Sprintf("10.0.0.%d:6379", i+1)
		at := cluster.Member{Pod: fmt.Sprintf("web-%d-%d", i/2, i%2), Addr: addr, ID: c.Start(addr, version)}
		m.members = append(m.members, cluster.Place{Member: at, Shard: i / 2})
	}
	for _, at := range m.members[1:] {
		must(t, c.Meet(ctx, target(at.Member), []wire.Target{target(m.members[0].Member)}))
	}
	c.Settle()
	for i, at := range m.members {
		if i%2 == 1 {
			must(t, c.Replicate(ctx, target(at.Member), m.members[i-1].ID))
		} else if i < 6 {
			must(t, c.AddSlots(ctx, target(at.Member), topology.Share(i/2, 3)))
		}
	}
	c.Settle()
	for slot := 0; slot < topology.TotalSlots; slot += 100 {
		c.Put(slot)
	}
	c.Settle()
	return c, m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// finish lets the mover work to its end, while clients write.
func finish(t *testing.T, c *fake.Cluster, m *mover) {
	t.Helper()
	for i := range mostSteps {
		done, err := m.step(t.Context())
		must(t, err)
		c.Put(i * 7 % topology.TotalSlots)
		c.Settle()
		if done {
			break
		}
	}
	must(t, m.look(t.Context()))
	if lost := c.Lost(); len(lost) > 0 {
		t.Errorf("writes to slots %v are lost", lost)
	}
	for shard := range 4 {
		owner, _ := m.nodes.Shard(shard).Owner()
		if owner.Server == nil || owner.Server.Self().Slots.Count() != topology.TotalSlots/4 || len(owner.Server.Open) > 0 {
			t.Errorf("shard %d has %+v", shard, owner.Server)
		}
	}
}

// Slots arrive with every write that was acknowledged, key by key and as a whole.
func TestMovesLoseNothing(t *testing.T) {
	for _, version := range []string{"8.0.1", "9.1.2"} {
		t.Run(version, func(t *testing.T) {
			c, m := stocked(t, version)
			finish(t, c, m)
		})
	}
}

// A slot that was left half open has its keys at the other end already. It is finished
// forward, wherever it should be in the end: closed as it was, they would be stranded.
func TestHalfOpenSlotsAreFinishedForward(t *testing.T) {
	c, m := stocked(t, "8.1.1")
	from, to := target(m.members[0].Member), target(m.members[2].Member)
	must(t, c.SetSlotsImporting(t.Context(), to, "100", from.ID))
	must(t, c.SetSlotsMigrating(t.Context(), from, "100", to.ID))
	must(t, c.MigrateKeys(t.Context(), from, wire.Migration{To: to.Addr, Batches: [][]string{{"100:0"}}}))
	c.Settle()
	if _, err := m.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, m.look(t.Context()))
	if !m.nodes[2].Server.Self().Slots.Overlaps("100") || len(m.open()) > 0 || len(c.Lost()) > 0 {
		t.Errorf("the slot is not where its keys are: lost %v, open %v", c.Lost(), m.open())
	}
	finish(t, c, m)
}

// forgetful is a source that forgets, after its keys were counted, that it sends a slot on:
// a replica took over that had not heard of it. It takes new keys then.
type forgetful struct {
	*fake.Cluster
	at wire.Target
}

func (f forgetful) CountKeysInSlots(ctx context.Context, at wire.Target, slots topology.Slots) (map[int]int, error) {
	counts, err := f.Cluster.CountKeysInSlots(ctx, at, slots)
	if at == f.at && err == nil && counts[slots.List()[0]] == 0 {
		err = errors.Join(f.SetSlotsStable(ctx, at, slots), f.PutAt(at, slots.List()[0], 1))
	}
	return counts, err
}

// A slot is given only after both ends were looked at once more.
func TestASlotIsGivenWithItsProofOnly(t *testing.T) {
	c, m := stocked(t, "8.1.1")
	must(t, m.look(t.Context()))
	source, _ := m.primary(0)
	destination, _ := m.primary(1)
	m.servers = forgetful{c, targetOf(source)}
	if err := m.transfer(t.Context(), slotTransfer{source, destination, "0"}); !errors.Is(err, errNotGiven) {
		t.Errorf("error %v", err)
	}
	c.Settle()
	if lost := c.Lost(); len(lost) > 0 {
		t.Errorf("writes to slots %v are lost", lost)
	}
}

// While a replica has no link, it would not hear who owns a slot: no batch is begun.
func TestReplicasHearOfEveryBatch(t *testing.T) {
	for _, version := range []string{"8.1.1", "9.1.2"} {
		c, m := stocked(t, version)
		m.servers = unlinked{c, m.members[1].Addr}
		for range 3 {
			if done, err := m.step(t.Context()); done || err != nil {
				t.Fatalf("%s: done %t, %v", version, done, err)
			}
		}
		c.Settle()
		m.servers = c
		must(t, m.look(t.Context()))
		if n := m.nodes[0].Server.Self().Slots.Count(); n != topology.Share(0, 3).Count() || len(m.open()) > 0 {
			t.Errorf("%s: %d slots are left, %d open", version, n, len(m.open()))
		}
	}
}

// unlinked is servers of which one has lost its primary.
type unlinked struct {
	*fake.Cluster
	addr string
}

func (u unlinked) Ask(ctx context.Context, addr string) (*topology.Server, error) {
	s, err := u.Cluster.Ask(ctx, addr)
	if err == nil && addr == u.addr {
		s.Synced = false
	}
	return s, err
}

// A job that was accepted and came to nothing is an error, and not begun for ever.
func TestAJobThatFailsIsSeen(t *testing.T) {
	c, m := stocked(t, "9.1.2")
	must(t, m.look(t.Context()))
	if _, err := m.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Stop(m.members[6].Addr)
	c.Settle() // the jobs fail
	c.Resume(m.members[6].Addr)
	c.Settle()
	if _, err := m.step(t.Context()); !errors.Is(err, errJob) {
		t.Errorf("error %v", err)
	}
}

// failing is servers that remember jobs which came to nothing.
type failing struct {
	*fake.Cluster
	attempts int
}

func (f failing) SlotMigrations(ctx context.Context, at wire.Target) ([]topology.SlotJob, error) {
	jobs, err := f.Cluster.SlotMigrations(ctx, at)
	for i := range f.attempts {
		jobs = append(jobs, topology.SlotJob{State: topology.JobFailed, Created: time.Now().Unix() - int64(i)})
	}
	return jobs, err
}

// Jobs that fail again and again are given up: the slots go key by key, and lose nothing.
func TestSlotsGoKeyByKeyAfterThreeFailures(t *testing.T) {
	for attempts, whole := range map[int]bool{0: true, mostAttempts - 1: true, mostAttempts: false} {
		c, m := stocked(t, "9.1.2")
		m.servers = failing{c, attempts}
		if _, err := m.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		jobs, err := c.SlotMigrations(t.Context(), target(m.members[0].Member))
		if must(t, err); (len(jobs) > 0) != whole {
			t.Errorf("after %d failures there are %d jobs", attempts, len(jobs))
		}
		c.Settle()
		if !whole {
			finish(t, c, m)
		}
	}
}

// A server that is about to stop hands over first: no slots are sent to it, or by it.
func TestNoSlotsAreSentByAServerThatStops(t *testing.T) {
	for _, stops := range []int{0, 6} { // a source, and the target
		c, m := stocked(t, "9.1.2")
		c.TellToStop(m.members[stops].Addr)
		if done, err := m.step(t.Context()); done || err != nil {
			t.Fatalf("done %t, %v", done, err)
		}
		for _, at := range m.members {
			if jobs, err := c.SlotMigrations(t.Context(), target(at.Member)); err != nil || len(jobs) > 0 {
				t.Errorf("%s has jobs %v, %v", at.Pod, jobs, err)
			}
		}
	}
}

// keyed is a client that knows the passwords of servers.
type keyed struct {
	Movers
	wire.Accessor
	secrets access.Secrets
}

func (k keyed) Keys() access.Keys { return access.Keys{Secrets: k.secrets} }

// The source of keys logs on to their target as servers do, with the newest password.
func TestASourceLogsOnToItsTarget(t *testing.T) {
	m := mover{servers: keyed{secrets: access.Secrets{Replication: []access.Password{access.NewPassword("new"), access.NewPassword("old")}}}}
	if s := m.sender("10.0.0.2:6379"); s.To != "10.0.0.2:6379" || s.User != access.Replication || s.Password != "new" {
		t.Errorf("as %q with %q to %q", s.User, s.Password, s.To)
	}
	m.servers = fake.New()
	if s := m.sender("10.0.0.2:6379"); s.User != "" || s.Password != "" {
		t.Errorf("without passwords, as %q", s.User)
	}
}

// While slots are on their way as a whole, nothing else is begun.
func TestJobsAreWaitedFor(t *testing.T) {
	c, m := stocked(t, "9.1.2")
	for range 3 { // the jobs do not get on
		if done, err := m.step(t.Context()); done || err != nil {
			t.Fatalf("done %t, %v", done, err)
		}
	}
	c.Settle()
	finish(t, c, m)
}
