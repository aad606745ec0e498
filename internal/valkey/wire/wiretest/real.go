package wiretest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Real makes a cluster of running servers, which are wiped first. Who calls it
// says with the addresses that nothing of worth is in them, and how long they may take.
func Real(addrs []string, within time.Duration) func(t *testing.T) Cluster {
	return func(t *testing.T) Cluster {
		for _, addr := range addrs {
			if err := wipe(t.Context(), addr); err != nil {
				t.Fatal(err)
			}
		}
		client := wire.NewClient().Patient(within)
		t.Cleanup(client.Close)
		return Cluster{Reader: client, Writer: client, Addrs: addrs, Until: Poll(within), Glimpse: Poll(within)}
	}
}

// wipe makes a server forget its data, its peers and its own name.
func wipe(ctx context.Context, addr string) error {
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", addr, err)
	}
	defer c.Close()
	// A replica cannot be flushed, and a primary with keys cannot be reset.
	_ = c.Do(ctx, c.B().Flushall().Build()).Error()
	if err := c.Do(ctx, c.B().ClusterReset().Hard().Build()).Error(); err != nil {
		return fmt.Errorf("reset %s: %w", addr, err)
	}
	return nil
}

// Poll is for Until of real servers: it waits until they have done what they are to do, or long enough.
func Poll(within time.Duration) func(ctx context.Context, done func() bool) error {
	return script.Poll(within)
}
