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

// Watcher notices the end of servers.
type Watcher interface {
	// Watch returns when the server at addr ends, or whatever else ends a connection on which nothing is said: a
	// process that is killed cannot but close it. It returns nil when ctx ends first.
	Watch(ctx context.Context, addr string) error
}

// Writer tells servers what to become. Every command names the end state, so that
// repeating it is harmless, and is refused by a server that is not the one meant.
type Writer interface {
	// Meet makes the server introduce itself to others: to be known by them, or to be seen anew by those
	// that know it. Whoever else has one of their addresses by now is not met.
	Meet(ctx context.Context, at Target, others []Target) error
	// AddSlots makes the server, a primary, own slots that nobody owns.
	AddSlots(ctx context.Context, at Target, slots topology.Slots) error
	// SetNodeTimeout sets how long the server lets another be out of reach.
	SetNodeTimeout(ctx context.Context, at Target, timeout time.Duration) error
	// Replicate makes the server, which must hold nothing, follow the primary.
	Replicate(ctx context.Context, at Target, primary string) error
	// Failover makes the server, a replica, the primary of its shard. Success says only
	// that it will try: see who owns the slots, and under which epoch. Of one that owns
	// slots already nothing is asked.
	Failover(ctx context.Context, at Target, mode FailoverMode) error
	// Forget makes the server forget others, in which it must see no worth: no slots, none
	// on their way, and no replica but one that is forgotten, too. It is over, too, with those
	// that are not known to it.
	Forget(ctx context.Context, at Target, ids ...string) error
	// ForgetSlotOwner makes the server forget another, which it must have given up, and in which it must
	// see no replica: slots go with it, and nobody owns them then.
	ForgetSlotOwner(ctx context.Context, at Target, id string) error
	// Reset makes the server, which must own no slots, forget all others and its role;
	// if it was a replica, its keys as well. A hard one takes another ID, so repeated it
	// finds another server.
	Reset(ctx context.Context, at Target, hard bool) error
	// RaiseEpoch makes the server, a primary, take an epoch above this one, without a vote. It must
	// neither give nor get slots, nor be about to be replaced.
	RaiseEpoch(ctx context.Context, at Target, above int64) error
	// ConfigSet changes settings of the server: all of them, or none.
	ConfigSet(ctx context.Context, at Target, settings map[string]string) error
}

// FailoverMode is how much a failover asks for consent.
type FailoverMode string

// The modes of a failover.
const (
	// Agreed: the primary pauses its clients until the replica has everything, and a
	// majority of the primaries with slots votes for it. Nothing is lost.
	Agreed FailoverMode = ""
	// Forced: the majority votes, the primary is not asked. What it had not sent is lost.
	Forced FailoverMode = "FORCE"
	// Taken: nobody is asked. Two may then be primaries with the same right.
	Taken FailoverMode = "TAKEOVER"
)

// Target is one server: where it was seen, what it is called, and the mark of its pod.
type Target struct {
	Addr string `json:"addr"`
	ID   string `json:"id"`
	// Mark is what the server at the other end of every connection must bear; "" is not to ask.
	Mark string `json:"mark,omitempty"`
}
