package wire

import (
	"context"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const nodeTimeout = "cluster-node-timeout"

// Ask implements Reader: one round trip.
func (c *Client) Ask(ctx context.Context, addr string) (*topology.Server, error) {
	replies, err := c.do(ctx, addr,
		[]string{"CLUSTER", "MYID"},
		[]string{"CLUSTER", "MYSHARDID"},
		[]string{"CLUSTER", "NODES"},
		[]string{"CLUSTER", "INFO"},
		[]string{"INFO", "server", "persistence", "memory", "replication", "keyspace"},
		[]string{"CLUSTER", "SHARDS"},
		[]string{"ROLE"},
		[]string{"CONFIG", "GET", nodeTimeout},
	)
	if err != nil {
		return nil, err
	}
	var a answers
	for i, into := range []*string{&a.id, &a.shardID, &a.nodes, &a.cluster, &a.info} {
		if *into, err = replies[i].ToString(); err != nil {
			return nil, fmt.Errorf("ask %s: %w: %w", addr, ErrMalformed, err)
		}
	}
	for i, into := range []*any{&a.shards, &a.role, &a.timeout} {
		if *into, err = replies[5+i].ToAny(); err != nil {
			return nil, fmt.Errorf("ask %s: %w: %w", addr, ErrMalformed, err)
		}
	}
	s, err := a.server()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", addr, err)
	}
	return s, nil
}
