package fake

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// formed is three shards of a primary (even) and a replica (odd), in harmony.
func formed(t fataler, version string) (*Cluster, []wire.Target) {
	t.Helper()
	ctx := context.Background()
	c, targets := newServers(6)
	for _, at := range targets {
		c.set(at.Addr, func(s *server) { s.version = version })
	}
	err := c.Meet(ctx, targets[0], targets[1:])
	c.Settle()
	for i := range 3 {
		err = errors.Join(err, c.AddSlots(ctx, targets[2*i], topology.Share(i, 3)))
	}
	c.Settle()
	for i := range 3 {
		err = errors.Join(err, c.Replicate(ctx, targets[2*i+1], targets[2*i].ID))
	}
	c.Settle()
	if err != nil {
		t.Fatal(err)
	}
	return c, targets
}

func role(c *Cluster, at wire.Target) string {
	s, err := c.Ask(context.Background(), at.Addr)
	switch {
	case err != nil:
		return "silent"
	case s.Self().Follows != "":
		return "replica"
	case s.Self().Slots != "":
		return "primary"
	}
	return "blank"
}

// A failover that voters do not know of is accepted, and nothing comes of it.
func TestAFailoverTooEarlyComesToNothing(t *testing.T) {
	ctx := t.Context()
	c, targets := formed(t, "9.1.2")
	if err := c.Reset(ctx, targets[1], false); err != nil {
		t.Fatal(err)
	}
	for _, by := range targets {
		if err := c.Forget(ctx, by, targets[1].ID); by != targets[1] && err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(2 * time.Minute) // the ban is over
	if err := c.Meet(ctx, targets[1], targets[:1]); err != nil {
		t.Fatal(err)
	}
	pair := []Step{{From: targets[1].Addr, To: targets[0].Addr}, {From: targets[0].Addr, To: targets[1].Addr}}
	for range 3 {
		c.Deliver(pair[0])
		c.Deliver(pair[1])
	}
	if err := c.Replicate(ctx, targets[1], targets[0].ID); err != nil {
		t.Fatal(err)
	}
	c.Deliver(pair[0])
	for _, voter := range []int{2, 4} { // whom it knows, and who do not know it
		c.Deliver(Step{From: targets[1].Addr, To: targets[voter].Addr})
	}
	for range 2 { // a full copy
		c.Deliver(Step{From: targets[0].Addr, To: targets[1].Addr, Sync: true})
	}
	if doubt, ready := nodes(c, targets).Handover(targets[1].ID, 0); ready {
		t.Error("the gate is open, where voters do not know the replica")
	} else {
		t.Log(doubt)
	}
	if err := c.Failover(ctx, targets[1], wire.Agreed); err != nil {
		t.Fatal(err)
	}
	c.Deliver(Step{To: targets[1].Addr, Elect: true})
	if is := role(c, targets[1]); is != "replica" {
		t.Errorf("it was elected by those that do not know it, and is a %s", is)
	}
	if c.Put(0) {
		t.Error("writes were not paused")
	}
	c.Advance(6 * time.Second)
	if !c.Put(0) {
		t.Error("writes are paused for ever")
	}
}

// Whatever happens in between, failovers that the gate lets through lose no write.
func TestGatedFailoversLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		version := rapid.SampledFrom([]string{"8.0.1", "8.1.1", "9.1.2"}).Draw(t, "version")
		c, targets := formed(t, version)
		moved := 0
		for range 30 {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				c.Put(rapid.SampledFrom([]int{0, 6000, 16383}).Draw(t, "slot"))
			case 1:
				to := rapid.SampledFrom(targets).Draw(t, "to")
				if _, ready := nodes(c, targets).Handover(to.ID, 2); ready && c.Failover(ctx, to, wire.Agreed) == nil {
					moved++
				}
			case 2:
				c.Advance(rapid.SampledFrom([]time.Duration{time.Second, 11 * time.Second}).Draw(t, "time"))
			default:
				if steps := c.Steps(); len(steps) > 0 {
					c.Deliver(rapid.SampledFrom(steps).Draw(t, "step"))
				}
			}
			if lost := c.Lost(); len(lost) > 0 {
				t.Fatalf("writes of slots %v are lost after %d failovers", lost, moved)
			}
		}
		c.Settle()
		if doubt, agree := nodes(c, targets).Agree(); !agree {
			t.Fatal(doubt)
		}
		if count, _, contested := nodes(c, targets).Assigned(); count != topology.TotalSlots || contested {
			t.Fatalf("%d slots, contested %t", count, contested)
		}
	})
}

// A fault that the checker must see, or it would see nothing.
func TestLossIsSeen(t *testing.T) {
	for name, harm := range map[string]func(c *Cluster, targets []wire.Target){
		"an empty primary returns": func(c *Cluster, targets []wire.Target) {
			c.Restart(targets[0].Addr, Restart{Empties: true})
		},
		"a replica that lags behind takes over": func(c *Cluster, targets []wire.Target) {
			_ = c.Failover(context.Background(), targets[1], wire.Taken)
		},
		"an owner is named too early": func(c *Cluster, targets []wire.Target) {
			ctx := context.Background()
			_ = c.SetSlotsImporting(ctx, targets[2], "0", targets[0].ID)
			_ = c.SetSlotsMigrating(ctx, targets[0], "0", targets[2].ID)
			_ = c.SetSlotsNode(ctx, targets[2], "0", targets[2].ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, targets := formed(t, "8.1.1")
			if !c.Put(0) || len(c.Lost()) > 0 {
				t.Fatal("a write is lost before anything was done")
			}
			harm(c, targets)
			c.Settle()
			if len(c.Lost()) == 0 {
				t.Error("nothing is said to be lost")
			}
		})
	}
}

// An address that was handed to another server: replication copies whoever is there.
func TestAddressesArePermuted(t *testing.T) {
	c, targets := formed(t, "8.1.1")
	c.Put(0)
	c.Settle()
	c.Restart(targets[0].Addr, Restart{Addr: "10.0.1.1:6379"})
	c.Restart(targets[3].Addr, Restart{Addr: targets[0].Addr})
	s, err := c.Ask(t.Context(), targets[0].Addr)
	if err != nil || s.ID != targets[3].ID {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := c.Failover(t.Context(), targets[0], wire.Forced); !errors.Is(err, wire.ErrOtherServer) {
		t.Errorf("the server that has the address now was told: %v", err)
	}
	corrupt := targets[5].Addr
	c.Restart(corrupt, Restart{Corrupt: true})
	if _, err := c.Ask(t.Context(), corrupt); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("a server without a readable nodes.conf: %v", err)
	}
}

// A handshake with nobody is given up after the timeout, and not before.
func TestHandshakesWithNobodyEnd(t *testing.T) {
	c, targets := formed(t, "8.1.1")
	gone := wire.Target{Addr: "10.0.9.9:6379", ID: c.Start("10.0.9.9:6379", "8.1.1")}
	if err := c.Meet(t.Context(), targets[0], []wire.Target{gone}); err != nil {
		t.Fatal(err)
	}
	c.Kill(gone.Addr)
	for _, is := range []struct {
		after time.Duration
		peers int
	}{{0, 7}, {4 * time.Second, 7}, {2 * time.Second, 6}} {
		c.Advance(is.after)
		c.Settle()
		if s, err := c.Ask(t.Context(), targets[0].Addr); err != nil || len(s.View) != is.peers {
			t.Errorf("%s later it lists %d, not %d: %v", is.after, len(s.View), is.peers, err)
		}
	}
}

// What a server answers instead of an answer.
func TestAnswers(t *testing.T) {
	c, targets := formed(t, "8.1.1")
	for _, want := range []error{wire.ErrLoading, wire.ErrDenied} {
		c.Answer(targets[0].Addr, want)
		_, err := c.Ask(t.Context(), targets[0].Addr)
		if told := c.Forget(t.Context(), targets[0], targets[1].ID); !errors.Is(err, want) || !errors.Is(told, want) {
			t.Errorf("asked: %v; told: %v", err, told)
		}
	}
	c.Answer(targets[0].Addr, nil)
	if role(c, targets[0]) != "primary" {
		t.Error("it does not answer again")
	}
}

// A job that is under way fails with a failover, and leaves nothing half done.
func TestJobsEndWithAFailover(t *testing.T) {
	ctx := t.Context()
	c, targets := formed(t, "9.1.2")
	c.Put(0)
	c.Settle()
	if err := c.MigrateSlots(ctx, targets[0], []wire.SlotsTo{{Slots: "0-9", To: targets[2].ID}}); err != nil {
		t.Fatal(err)
	}
	if err := c.MigrateSlots(ctx, targets[0], []wire.SlotsTo{{Slots: "5", To: targets[4].ID}}); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a slot is promised twice: %v", err)
	}
	if err := c.Failover(ctx, targets[1], wire.Forced); err != nil {
		t.Fatal(err)
	}
	c.Deliver(Step{To: targets[1].Addr, Elect: true})
	for range 3 { // the old primary hears of it before the job runs
		c.Deliver(Step{From: targets[1].Addr, To: targets[0].Addr})
	}
	c.Settle()
	jobs, err := c.SlotMigrations(ctx, targets[0])
	if err != nil || len(jobs) != 1 || jobs[0].State != topology.JobFailed || len(c.Lost()) > 0 {
		t.Errorf("%v, %v, lost %v", jobs, err, c.Lost())
	}
}
