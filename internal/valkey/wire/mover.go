package wire

import (
	"context"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// SlotReader asks servers about slots.
type SlotReader interface {
	// CountKeysInSlots is how many keys of each of the slots the server itself holds.
	CountKeysInSlots(ctx context.Context, at Target, slots topology.Slots) (map[int]int, error)
	// KeysInSlot names some keys of a slot that the server itself holds.
	KeysInSlot(ctx context.Context, at Target, slot, most int) ([]string, error)
	// SlotMigrations lists what the server remembers of slots moved as a whole, the
	// newest first. Servers that cannot do so refuse: see MovesWhole.
	SlotMigrations(ctx context.Context, at Target) ([]topology.SlotJob, error)
	// Stopping says that the pod of the server at addr was told to stop: it hands over soon.
	Stopping(ctx context.Context, addr string) (bool, error)
}

// Mover tells servers to move slots: key by key, which every version can, or as a
// whole.
type Mover interface {
	SlotReader
	// SetSlotsImporting makes the server ready to get slots from another.
	SetSlotsImporting(ctx context.Context, at Target, slots topology.Slots, from string) error
	// SetSlotsMigrating makes the server, which owns the slots, ready to give them.
	SetSlotsMigrating(ctx context.Context, at Target, slots topology.Slots, to string) error
	// SetSlotsNode makes the server believe who owns the slots, and closes them.
	//
	// NOTE: the server does not mind if the former owner still holds keys; that one
	// deletes them as soon as it hears of it.
	SetSlotsNode(ctx context.Context, at Target, slots topology.Slots, owner string) error
	// SetSlotsStable closes slots without a change of owner. Keys that have gone to the
	// other end are stranded there.
	SetSlotsStable(ctx context.Context, at Target, slots topology.Slots) error
	// MigrateKeys sends keys to another server and deletes them here.
	MigrateKeys(ctx context.Context, at Target, m Migration) error
	// MigrateSlots makes the server, which owns the slots, give them away as a whole, in
	// one command. Success says only that it will try: see who owns the slots.
	MigrateSlots(ctx context.Context, at Target, moves []SlotsTo) error
	// CancelSlotMigrations ends every job of the server.
	CancelSlotMigrations(ctx context.Context, at Target) error
}

// SlotsTo is slots and the ID of the server that shall own them.
type SlotsTo struct {
	Slots topology.Slots
	To    string
}

// Migration is keys that go to another server.
type Migration struct {
	To string // its address
	// Batches are sent at once, with a reply for each. The server does nothing else while
	// it sends one, so batches are short.
	Batches [][]string
	// Within is how long the target may take to answer.
	Within time.Duration
	// User and Password are what the server logs on to the other with; "" is not at all.
	User, Password string
}

// MovesWhole says that servers of this version can move slots as a whole.
func MovesWhole(version string) bool { return version != "" && !topology.Older(version, "9") }
