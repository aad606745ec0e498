package wire

import (
	"context"
	"fmt"
	"strings"
)

// Settler asks for settings of servers, and changes them.
type Settler interface {
	// Settings are what the server has of these. One that it does not know is missing.
	Settings(ctx context.Context, at Target, names []string) (map[string]string, error)
	// ConfigSet changes settings of the server: all of them, or none.
	ConfigSet(ctx context.Context, at Target, settings map[string]string) error
}

var _ Settler = (*Client)(nil)

// Settings implements Settler.
func (c *Client) Settings(ctx context.Context, at Target, names []string) (map[string]string, error) {
	if _, err := c.self(ctx, at); err != nil {
		return nil, err
	}
	command := []string{"CONFIG", "GET"}
	replies, err := c.do(ctx, at, append(command, names...))
	if err != nil {
		return nil, err
	}
	settings, err := replies[0].AsStrMap()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	return settings, nil
}

// Words are those of a server that refused, without what came before them.
func Words(err error) string {
	text := err.Error()
	if _, words, found := strings.Cut(text, ErrRefused.Error()+": "); found {
		return words
	}
	return text
}
