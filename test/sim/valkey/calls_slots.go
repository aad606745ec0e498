package valkey

import (
	"context"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

var _ wire.Mover = serverCalls{}

// CountKeysInSlots implements wire.SlotReader.
func (d serverCalls) CountKeysInSlots(ctx context.Context, at wire.Target, slots topology.Slots) (counts map[int]int, err error) {
	err = d.ask(ctx, "count", func(ctx context.Context) (func(), error) {
		answer, err := d.servers.CountKeysInSlots(ctx, at, slots)
		return func() { counts = answer }, err
	})
	return counts, err
}

// KeysInSlot implements wire.SlotReader.
func (d serverCalls) KeysInSlot(ctx context.Context, at wire.Target, slot, most int) (keys []string, err error) {
	err = d.ask(ctx, "keys", func(ctx context.Context) (func(), error) {
		answer, err := d.servers.KeysInSlot(ctx, at, slot, most)
		return func() { keys = answer }, err
	})
	return keys, err
}

// SlotMigrations implements wire.SlotReader.
func (d serverCalls) SlotMigrations(ctx context.Context, at wire.Target) (jobs []topology.SlotJob, err error) {
	err = d.ask(ctx, "jobs", func(ctx context.Context) (func(), error) {
		answer, err := d.servers.SlotMigrations(ctx, at)
		return func() { jobs = answer }, err
	})
	return jobs, err
}

// Stopping implements wire.SlotReader.
func (d serverCalls) Stopping(ctx context.Context, addr string) (stops bool, err error) {
	err = d.ask(ctx, "stopping", func(ctx context.Context) (func(), error) {
		answer, err := d.servers.Stopping(ctx, addr)
		return func() { stops = answer }, err
	})
	return stops, err
}

// SetSlotsImporting implements wire.Mover.
func (d serverCalls) SetSlotsImporting(ctx context.Context, at wire.Target, slots topology.Slots, from string) error {
	return d.tell(ctx, "importing", func(ctx context.Context) error { return d.servers.SetSlotsImporting(ctx, at, slots, from) })
}

// SetSlotsMigrating implements wire.Mover.
func (d serverCalls) SetSlotsMigrating(ctx context.Context, at wire.Target, slots topology.Slots, to string) error {
	return d.tell(ctx, "migrating", func(ctx context.Context) error { return d.servers.SetSlotsMigrating(ctx, at, slots, to) })
}

// SetSlotsNode implements wire.Mover.
func (d serverCalls) SetSlotsNode(ctx context.Context, at wire.Target, slots topology.Slots, owner string) error {
	return d.tell(ctx, "setslot", func(ctx context.Context) error { return d.servers.SetSlotsNode(ctx, at, slots, owner) })
}

// SetSlotsStable implements wire.Mover.
func (d serverCalls) SetSlotsStable(ctx context.Context, at wire.Target, slots topology.Slots) error {
	return d.tell(ctx, "stable", func(ctx context.Context) error { return d.servers.SetSlotsStable(ctx, at, slots) })
}

// MigrateKeys implements wire.Mover.
func (d serverCalls) MigrateKeys(ctx context.Context, at wire.Target, m wire.Migration) error {
	return d.tell(ctx, "migrate", func(ctx context.Context) error { return d.servers.MigrateKeys(ctx, at, m) })
}

// MigrateSlots implements wire.Mover.
func (d serverCalls) MigrateSlots(ctx context.Context, at wire.Target, moves []wire.SlotsTo) error {
	return d.tell(ctx, "migrateslots", func(ctx context.Context) error { return d.servers.MigrateSlots(ctx, at, moves) })
}

// CancelSlotMigrations implements wire.Mover.
func (d serverCalls) CancelSlotMigrations(ctx context.Context, at wire.Target) error {
	return d.tell(ctx, "cancel", func(ctx context.Context) error { return d.servers.CancelSlotMigrations(ctx, at) })
}

func (d serverCalls) ask(ctx context.Context, what string, do func(context.Context) (func(), error)) error {
	return outcome(d.cell.Call(ctx, "valkey "+what, false, do))
}
