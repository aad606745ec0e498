package wire

import (
	"context"
	"fmt"
	"strings"
)

// StoppingClient names the connection that the program beside a server keeps to it from the moment in which the
// pod is told to stop. Others see by it that the server will soon be gone.
const StoppingClient = "statecraft-stopping"

// Stopping implements SlotReader.
func (c *Client) Stopping(ctx context.Context, addr string) (bool, error) {
	replies, err := c.do(ctx, Target{Addr: addr}, []string{"CLIENT", "LIST", "TYPE", "NORMAL"})
	if err != nil {
		return false, err
	}
	list, err := replies[0].ToString()
	if err != nil {
		return false, fmt.Errorf("ask %s: %w: %w", addr, ErrMalformed, err)
	}
	return strings.Contains(list, " name="+StoppingClient+" "), nil
}
