package writer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valkey-io/valkey-go"
	"golang.org/x/sync/errgroup"
)

const fillers = 32

// Fill writes so many values of a size to a cluster, from many sides, through any of its servers.
func Fill(t *testing.T, addr string, keys, bytes int) {
	t.Helper()
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	value := strings.Repeat("v", bytes)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range fillers {
		group.Go(func() error {
			for n := i; n < keys; n += fillers {
				if err := c.Do(ctx, c.B().Set().Key(fmt.Sprintf("load-%d", n)).Value(value).Build()).Error(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
