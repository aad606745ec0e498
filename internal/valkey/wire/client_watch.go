package wire

import (
	"context"
	"fmt"
	"net"
)

// Watch implements Watcher.
func (c *Client) Watch(ctx context.Context, addr string) error {
	conn, err := c.connect(ctx, addr)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", addr, classify(err))
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close()
	}()
	_, err = conn.Read(make([]byte, 1)) // it says nothing unasked but why it hangs up
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		return fmt.Errorf("watch %s: %w", addr, ErrRefused)
	}
	return fmt.Errorf("watch %s: %w: %w", addr, ErrUnreachable, err)
}

func (c *Client) connect(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.dial.Timeout)
	defer cancel()
	if c.access.Login == nil {
		return connect(ctx, addr, &c.dial, c.access.TLS)
	}
	return c.access.dial(ctx, addr, &c.dial, c.access.TLS)
}
