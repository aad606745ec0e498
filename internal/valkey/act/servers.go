package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

const atATime = 32 // servers that are told something at a time

// meet lets all servers introduce themselves at once: the sooner the last has, the
// sooner gossip is done.
func (a Cluster) meet(ctx context.Context, e cluster.Meet) error {
	return each(e.Introductions, func(i cluster.Introduction) error {
		others := make([]wire.Target, 0, len(i.To))
		for _, to := range i.To {
			others = append(others, target(to))
		}
		return classify(i.Of.Pod, a.servers.Meet(ctx, target(i.Of), others))
	})
}

func (a Cluster) setNodeTimeout(ctx context.Context, e cluster.SetNodeTimeout) error {
	return each(e.At, func(m cluster.Member) error {
		return classify(m.Pod, a.servers.SetNodeTimeout(ctx, target(m), e.Timeout))
	})
}

// each tells many servers at once. One that cannot be told does not keep the others
// from being told.
func each[V any](list []V, tell func(V) error) error {
	var g errgroup.Group
	g.SetLimit(atATime)
	for _, v := range list {
		g.Go(func() error { return tell(v) })
	}
	return g.Wait()
}

func target(m cluster.Member) wire.Target { return wire.Target{Addr: m.Addr, ID: m.ID, Mark: m.Mark} }

// classify says whether it helps to try again, and names the pod in words that do
// not change from try to try.
func classify(pod string, err error) error {
	if err == nil {
		return nil
	}
	for kind, class := range classes {
		if errors.Is(err, kind) {
			return &fsm.Error{Class: class, Err: err, Say: tellOf(pod, kind)}
		}
	}
	return err
}

// tellOf is a sentence about what a server answered.
func tellOf(pod string, err error) string { return "Pod " + pod + ": " + err.Error() + "." }

// What a server refuses depends on what it is by now, so it is looked at again;
// only who is denied access is denied it again.
var classes = map[error]fsm.ErrorClass{
	wire.ErrUnreachable: fsm.Transient,
	wire.ErrLoading:     fsm.Transient,
	wire.ErrMalformed:   fsm.Transient,
	wire.ErrOtherServer: fsm.Changed,
	wire.ErrUnknownPeer: fsm.Changed,
	wire.ErrNotBlank:    fsm.Changed,
	wire.ErrRefused:     fsm.Changed,
	wire.ErrDenied:      fsm.Refused,
}

// raiseEpoch: if it were wrong, who was elected in the server's place would lose what was written since. So it must be
// proven, and the server says once more what it is.
func (a Cluster) raiseEpoch(ctx context.Context, e cluster.RaiseEpoch) error {
	if e.Proof == nil || !e.Proof.Of(plan.Server(e.At.ID)) {
		return fmt.Errorf("%s: %w", e, errUnproven)
	}
	return classify(e.At.Pod, a.servers.RaiseEpoch(ctx, target(e.At), e.Above))
}

// forget lets servers forget others, of which all must be proven to be of no worth.
func (a Cluster) forget(ctx context.Context, e cluster.Forget) error {
	if e.Proof == nil || slices.ContainsFunc(e.IDs, func(id string) bool { return !e.Proof.Of(plan.Server(id)) }) {
		return fmt.Errorf("%s: %w", e, errUnproven)
	}
	return each(e.At, func(m cluster.Member) error { return classify(m.Pod, a.servers.Forget(ctx, target(m), e.IDs...)) })
}
