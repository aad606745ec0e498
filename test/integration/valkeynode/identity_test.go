package valkeynode

import (
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/servers"
)

// TestAServerBearsTheMarkOfItsPod: a pod that is made anew finds the files of the one before, and bears its own mark.
func TestAServerBearsTheMarkOfItsPod(t *testing.T) {
	t.Parallel()
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := build(t, version, 5*time.Second, true)
			s := c.servers[0]
			for _, mark := range []string{"shop/web-0-0/0a1b2c3d-0000-4000-8000-000000000001", "shop/web-0-0/0a1b2c3d-0000-4000-8000-000000000002", ""} {
				s.startWith(t, "--mark", mark)
				c.eventually(t, func() error {
					server, err := c.client.Ask(t.Context(), s.addr())
					if err == nil && server.Mark != mark {
						return fmt.Errorf("it bears %q, and not %q", server.Mark, mark)
					}
					return err
				})
				s.kill()
			}
		})
	}
}
