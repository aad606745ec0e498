package wiretest

import (
	"context"
	"errors"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// RaiseAfter is how long servers are left alone before they are helped to agree.
const RaiseAfter = 4 * time.Second

// RaiseEpochs raises the epochs of primaries whose replicas somebody takes for primaries under a higher one, as the
// operator does. On a busy machine that comes about while a cluster is formed: what a server said before it became a
// replica may arrive last, and since 9 it passes in no other way.
func RaiseEpochs(ctx context.Context, servers wire.Writer, nodes topology.Nodes) (err error) {
	for _, n := range nodes {
		if n.Server == nil {
			continue
		}
		primary, answers := nodes.ByID(n.Server.Self().Follows)
		if above := seenAsPrimary(nodes, n.Server.ID); answers && above > primary.Server.Self().Epoch {
			err = errors.Join(err, servers.RaiseEpoch(ctx, wire.Target{Addr: primary.Addr, ID: primary.Server.ID}, above))
		}
	}
	return err
}

// seenAsPrimary is the highest epoch under which somebody takes a server for a primary.
func seenAsPrimary(nodes topology.Nodes, id string) (epoch int64) {
	for _, by := range nodes {
		if by.Server == nil {
			continue
		}
		if p, known := by.Server.Peer(id); known && p.State != topology.Handshake && p.Follows == "" {
			epoch = max(epoch, p.Epoch)
		}
	}
	return epoch
}
