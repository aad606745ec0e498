package valkey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// serverCalls are the calls of one process to the servers: every command is a boundary.
type serverCalls struct {
	cell    *sim.Cell
	servers *fake.Cluster
	stir    func()            // is told of every command
	fails   func(wire.Target) // is told of every failover, before it begins
}

// Watch implements wire.Watcher. Who is lost is found when it is looked for: a hint may always be lost.
func (d serverCalls) Watch(ctx context.Context, _ string) error {
	<-ctx.Done()
	return nil
}

// Ask implements wire.Reader.
func (d serverCalls) Ask(ctx context.Context, addr string) (server *topology.Server, err error) {
	err = d.cell.Call(ctx, "valkey ask", false, func(ctx context.Context) (func(), error) {
		answer, err := d.servers.Ask(ctx, addr)
		return func() { server = answer }, err
	})
	return server, outcome(err)
}

// Meet implements wire.Writer.
func (d serverCalls) Meet(ctx context.Context, at wire.Target, others []wire.Target) error {
	return d.tell(ctx, "meet", func(ctx context.Context) error { return d.servers.Meet(ctx, at, others) })
}

// AddSlots implements wire.Writer.
func (d serverCalls) AddSlots(ctx context.Context, at wire.Target, slots topology.Slots) error {
	return d.tell(ctx, "addslots", func(ctx context.Context) error { return d.servers.AddSlots(ctx, at, slots) })
}

// Replicate implements wire.Writer.
func (d serverCalls) Replicate(ctx context.Context, at wire.Target, primary string) error {
	return d.tell(ctx, "replicate", func(ctx context.Context) error { return d.servers.Replicate(ctx, at, primary) })
}

// SetNodeTimeout implements wire.Writer.
func (d serverCalls) SetNodeTimeout(ctx context.Context, at wire.Target, timeout time.Duration) error {
	return d.tell(ctx, "set", func(ctx context.Context) error { return d.servers.SetNodeTimeout(ctx, at, timeout) })
}

// Failover implements wire.Writer.
func (d serverCalls) Failover(ctx context.Context, at wire.Target, mode wire.FailoverMode) error {
	return d.tell(ctx, "failover", func(ctx context.Context) error {
		d.fails(at)
		return d.servers.Failover(ctx, at, mode)
	})
}

// Forget implements wire.Writer.
func (d serverCalls) Forget(ctx context.Context, at wire.Target, ids ...string) error {
	return d.tell(ctx, "forget", func(ctx context.Context) error { return d.servers.Forget(ctx, at, ids...) })
}

// ForgetSlotOwner implements wire.Writer.
func (d serverCalls) ForgetSlotOwner(ctx context.Context, at wire.Target, id string) error {
	return d.tell(ctx, "forget-slot-owner", func(ctx context.Context) error { return d.servers.ForgetSlotOwner(ctx, at, id) })
}

// Reset implements wire.Writer.
func (d serverCalls) Reset(ctx context.Context, at wire.Target, hard bool) error {
	return d.tell(ctx, "reset", func(ctx context.Context) error { return d.servers.Reset(ctx, at, hard) })
}

// RaiseEpoch implements wire.Writer.
func (d serverCalls) RaiseEpoch(ctx context.Context, at wire.Target, above int64) error {
	return d.tell(ctx, "raise-epoch", func(ctx context.Context) error { return d.servers.RaiseEpoch(ctx, at, above) })
}

// ConfigSet implements wire.Writer.
func (d serverCalls) ConfigSet(ctx context.Context, at wire.Target, settings map[string]string) error {
	return d.tell(ctx, "config", func(ctx context.Context) error { return d.servers.ConfigSet(ctx, at, settings) })
}

func (d serverCalls) tell(ctx context.Context, command string, do func(context.Context) error) error {
	return outcome(d.cell.Call(ctx, "valkey "+command, true, func(ctx context.Context) (func(), error) {
		d.stir()
		return nil, do(ctx)
	}))
}

// outcome is what the client makes of a connection that breaks.
func outcome(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{wire.ErrUnreachable, wire.ErrOtherServer, wire.ErrUnknownPeer, wire.ErrNotBlank, wire.ErrRefused} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", wire.ErrUnreachable, err)
}
