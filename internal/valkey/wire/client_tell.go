package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Meet implements Writer.
//
// NOTE: who is met is whoever has the address. A server takes anybody into its cluster, also a blank one of another: so
// each is asked right before who it is.
func (c *Client) Meet(ctx context.Context, at Target, others []Target) error {
	if _, err := c.self(ctx, at); err != nil {
		return err
	}
	commands := make([][]string, 0, len(others))
	for _, other := range others {
		host, port, err := net.SplitHostPort(other.Addr)
		if err != nil {
			return fmt.Errorf("meet %s: %w: %w", other.Addr, ErrRefused, err)
		}
		if err := c.verify(ctx, other); err != nil {
			return err
		}
		commands = append(commands, []string{"CLUSTER", "MEET", host, port})
	}
	return c.tell(ctx, at, commands...)
}

// AddSlots implements Writer.
//
// NOTE: a server that is a replica accepts slots, and two servers would then serve
// them: that one is refused here.
func (c *Client) AddSlots(ctx context.Context, at Target, slots topology.Slots) error {
	self, err := c.self(ctx, at)
	if err != nil {
		return err
	}
	if self.Follows != "" {
		return fmt.Errorf("add slots to %s: %w: it is a replica", at.Addr, ErrNotBlank)
	}
	missing := slots.Without(self.Slots)
	if missing == "" {
		return nil
	}
	command := []string{"CLUSTER", "ADDSLOTSRANGE"}
	for _, r := range missing.Ranges() {
		command = append(command, strconv.Itoa(r[0]), strconv.Itoa(r[1]))
	}
	return c.tell(ctx, at, command)
}

// Replicate implements Writer. That the server must hold nothing is checked by
// the server itself.
func (c *Client) Replicate(ctx context.Context, at Target, primary string) error {
	self, err := c.self(ctx, at)
	if err != nil || self.Follows == primary {
		return err
	}
	return c.tell(ctx, at, []string{"CLUSTER", "REPLICATE", primary})
}

// SetNodeTimeout implements Writer.
func (c *Client) SetNodeTimeout(ctx context.Context, at Target, timeout time.Duration) error {
	if _, err := c.self(ctx, at); err != nil {
		return err
	}
	return c.tell(ctx, at, []string{"CONFIG", "SET", nodeTimeout, strconv.FormatInt(timeout.Milliseconds(), 10)})
}

// verify fails if the server at an address is not the one that is meant.
func (c *Client) verify(ctx context.Context, at Target) error {
	replies, err := c.do(ctx, at, []string{"CLUSTER", "MYID"})
	if err != nil {
		return err
	}
	id, err := replies[0].ToString()
	if err != nil {
		return fmt.Errorf("ask %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	if id != at.ID {
		return fmt.Errorf("tell %s: %w", at.Addr, ErrOtherServer)
	}
	return nil
}

// self looks who answers before anything is told, and what that one is now.
func (c *Client) self(ctx context.Context, at Target) (topology.Peer, error) {
	view, err := c.view(ctx, at)
	if err != nil {
		return topology.Peer{}, err
	}
	return view.Self(), nil
}

// view is self, and all that the server sees.
func (c *Client) view(ctx context.Context, at Target) (*topology.Server, error) {
	replies, err := c.do(ctx, at, []string{"CLUSTER", "NODES"})
	if err != nil {
		return nil, err
	}
	text, err := replies[0].ToString()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	nodes, err := ParseNodes(text)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", at.Addr, err)
	}
	if nodes.Self != at.ID {
		return nil, fmt.Errorf("tell %s: %w", at.Addr, ErrOtherServer)
	}
	return &topology.Server{ID: nodes.Self, View: nodes.Peers, Open: nodes.Open}, nil
}

func (c *Client) tell(ctx context.Context, at Target, commands ...[]string) error {
	_, err := c.do(ctx, at, commands...)
	return err
}

// unlessUnknown takes for success that a peer is not known.
func unlessUnknown(err error) error {
	if errors.Is(err, ErrUnknownPeer) {
		return nil
	}
	return err
}
