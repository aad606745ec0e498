package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	nodeTimeout = "cluster-node-timeout"
	// podMark is the setting in which a server bears the mark of its pod. Servers name it in their logs, and tell it to each other.
	podMark = "cluster-announce-human-nodename"
)

// Ask implements Reader: one round trip. A connection that the server has ended since it was last used says
// nothing about whether there is a server now, so then there is another.
func (c *Client) Ask(ctx context.Context, addr string) (s *topology.Server, err error) {
	for range 1 + keptAtMost {
		if s, err = c.askOnce(ctx, addr); !hungUp(err) {
			break
		}
	}
	return s, err
}

// keptAtMost is how many connections of before there are, as a rule: who looks has one, and who acts.
const keptAtMost = 2

func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (c *Client) askOnce(ctx context.Context, addr string) (*topology.Server, error) {
	replies, err := c.do(ctx, Target{Addr: addr},
		[]string{"CLUSTER", "MYID"},
		[]string{"CLUSTER", "MYSHARDID"},
		[]string{"CLUSTER", "NODES"},
		[]string{"CLUSTER", "INFO"},
		[]string{"INFO", "server", "persistence", "memory", "replication", "keyspace"},
		[]string{"CLUSTER", "SHARDS"},
		[]string{"ROLE"},
		[]string{"CONFIG", "GET", nodeTimeout, podMark},
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
	for i, into := range []*any{&a.shards, &a.role} {
		if *into, err = replies[5+i].ToAny(); err != nil {
			return nil, fmt.Errorf("ask %s: %w: %w", addr, ErrMalformed, err)
		}
	}
	if a.settings, err = replies[7].AsStrMap(); err != nil {
		return nil, fmt.Errorf("ask %s: %w: %w", addr, ErrMalformed, err)
	}
	s, err := a.server()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", addr, err)
	}
	return s, nil
}
