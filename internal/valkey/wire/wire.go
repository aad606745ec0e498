package wire

import (
	"context"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Reader asks servers.
type Reader interface {
	// Ask returns all that the server at addr says of itself and of the cluster.
	Ask(ctx context.Context, addr string) (*topology.Server, error)
}

// Writer tells servers what to become. Every command names the end state, so that
// repeating it is harmless, and is refused by a server that is not the one meant.
type Writer interface {
	// Meet makes the server introduce itself to those at the addresses: to be known
	// by them, or to be seen anew by those that know it.
	Meet(ctx context.Context, at Target, addrs []string) error
	// AddSlots makes the server, a primary, own slots that nobody owns.
	AddSlots(ctx context.Context, at Target, slots topology.Slots) error
	// SetNodeTimeout sets how long the server lets another be out of reach.
	SetNodeTimeout(ctx context.Context, at Target, timeout time.Duration) error
	// Replicate makes the server, which must hold nothing, follow the primary.
	Replicate(ctx context.Context, at Target, primary string) error
}

// Target is one server: where it was seen, and what it is called.
type Target struct {
	Addr string `json:"addr"`
	ID   string `json:"id"`
}
