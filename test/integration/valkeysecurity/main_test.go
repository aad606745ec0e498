package valkeysecurity

import (
	"testing"

	"github.com/statecraft-dev/statecraft/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// atOnce is how many clusters run side by side. Six servers that greet new clients by TLS all
// the time, and must answer each within a second, leave little of a small machine to others.
var atOnce = make(chan struct{}, 3)

// forEachVersion runs a test on a cluster of every version.
func forEachVersion(t *testing.T, try func(t *testing.T, c *cluster)) {
	t.Helper()
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			c := build(t, version)
			c.form(t)
			try(t, c)
		})
	}
}
