package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

var _ Mover = (*Client)(nil)

// CountKeysInSlots implements SlotReader.
func (c *Client) CountKeysInSlots(ctx context.Context, at Target, slots topology.Slots) (map[int]int, error) {
	if _, err := c.self(ctx, at); err != nil {
		return nil, err
	}
	list := slots.List()
	commands := make([][]string, 0, len(list))
	for _, slot := range list {
		commands = append(commands, []string{"CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(slot)})
	}
	replies, err := c.do(ctx, at, commands...)
	counts := make(map[int]int, len(list))
	for i, reply := range replies {
		n, bad := reply.ToInt64()
		if bad != nil {
			return nil, fmt.Errorf("count keys at %s: %w: %w", at.Addr, ErrMalformed, bad)
		}
		counts[list[i]] = int(n)
	}
	return counts, err
}

// KeysInSlot implements SlotReader.
func (c *Client) KeysInSlot(ctx context.Context, at Target, slot, most int) ([]string, error) {
	if _, err := c.self(ctx, at); err != nil {
		return nil, err
	}
	replies, err := c.do(ctx, at, []string{"CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), strconv.Itoa(most)})
	if err != nil {
		return nil, err
	}
	keys, err := replies[0].AsStrSlice()
	if err != nil {
		return nil, fmt.Errorf("name keys at %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	return keys, nil
}

// SlotMigrations implements SlotReader.
func (c *Client) SlotMigrations(ctx context.Context, at Target) ([]topology.SlotJob, error) {
	if _, err := c.self(ctx, at); err != nil {
		return nil, err
	}
	replies, err := c.do(ctx, at, []string{"CLUSTER", "GETSLOTMIGRATIONS"})
	if err != nil {
		return nil, err
	}
	answer, err := replies[0].ToAny()
	if err != nil {
		return nil, fmt.Errorf("list jobs at %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	return ParseSlotMigrations(answer)
}

// SetSlotsImporting implements Mover.
func (c *Client) SetSlotsImporting(ctx context.Context, at Target, slots topology.Slots, from string) error {
	return c.setSlots(ctx, at, slots, "IMPORTING", from)
}

// SetSlotsMigrating implements Mover.
func (c *Client) SetSlotsMigrating(ctx context.Context, at Target, slots topology.Slots, to string) error {
	return c.setSlots(ctx, at, slots, "MIGRATING", to)
}

// SetSlotsNode implements Mover.
func (c *Client) SetSlotsNode(ctx context.Context, at Target, slots topology.Slots, owner string) error {
	return c.setSlots(ctx, at, slots, "NODE", owner)
}

// SetSlotsStable implements Mover.
func (c *Client) SetSlotsStable(ctx context.Context, at Target, slots topology.Slots) error {
	return c.setSlots(ctx, at, slots, "STABLE")
}

// setSlots leaves out what has come to pass already: a server refuses to get a slot
// that it owns, and to give one that it gave.
func (c *Client) setSlots(ctx context.Context, at Target, slots topology.Slots, words ...string) error {
	view, err := c.view(ctx, at)
	if err != nil {
		return err
	}
	var commands [][]string
	for _, slot := range slots.List() {
		if !reached(view, slot, words) {
			commands = append(commands, slices.Concat([]string{"CLUSTER", "SETSLOT", strconv.Itoa(slot)}, words))
		}
	}
	// The server answers each once its replicas have it. Side by side they wait for the
	// same news; on one connection each would wait for its own.
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sideBySide)
	for _, command := range commands {
		g.Go(func() error {
			_, err := c.do(ctx, at, command)
			return err
		})
	}
	return g.Wait()
}

func reached(view *topology.Server, slot int, words []string) bool {
	switch words[0] {
	case "IMPORTING":
		from, open := view.Imports(slot)
		return open && from == words[1]
	case "MIGRATING":
		to, open := view.Migrates(slot)
		return open && to == words[1]
	}
	return false
}

// MigrateKeys implements Mover. Keys that are no longer here are no mistake.
func (c *Client) MigrateKeys(ctx context.Context, at Target, m Migration) error {
	if _, err := c.self(ctx, at); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(m.To)
	if err != nil {
		return fmt.Errorf("migrate to %s: %w: %w", m.To, ErrRefused, err)
	}
	head := []string{"MIGRATE", host, port, "", "0", strconv.FormatInt(m.Within.Milliseconds(), 10), "REPLACE"}
	if m.Password != "" {
		head = append(head, "AUTH2", m.User, m.Password)
	}
	head = append(head, "KEYS")
	commands := make([][]string, 0, len(m.Batches))
	for _, keys := range m.Batches {
		if len(keys) > 0 {
			commands = append(commands, slices.Concat(head, keys))
		}
	}
	if len(commands) == 0 {
		return nil
	}
	_, err = c.doWithin(ctx, at, c.dial.Timeout+time.Duration(len(commands))*m.Within, commands)
	return err
}

// MigrateSlots implements Mover.
func (c *Client) MigrateSlots(ctx context.Context, at Target, moves []SlotsTo) error {
	if _, err := c.self(ctx, at); err != nil {
		return err
	}
	command := []string{"CLUSTER", "MIGRATESLOTS"}
	for _, m := range moves {
		command = append(command, "SLOTSRANGE")
		for _, r := range m.Slots.Ranges() {
			command = append(command, strconv.Itoa(r[0]), strconv.Itoa(r[1]))
		}
		command = append(command, "NODE", m.To)
	}
	return c.tell(ctx, at, command)
}

// CancelSlotMigrations implements Mover. That there is none is no mistake.
func (c *Client) CancelSlotMigrations(ctx context.Context, at Target) error {
	if _, err := c.self(ctx, at); err != nil {
		return err
	}
	err := c.tell(ctx, at, []string{"CLUSTER", "CANCELSLOTMIGRATIONS"})
	if errors.Is(err, errIdle) {
		return nil
	}
	return err
}
