package valkeywire

import (
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers"
)

// TestTheFakeIsLikeProcesses runs the scripts that the fake passes on real servers of
// every version: where they differ, what is proved with the fake is not proved.
func TestTheFakeIsLikeProcesses(t *testing.T) {
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			for _, dir := range []string{"testdata", "processdata"} {
				scripts := filepath.Join(harness.Root(t), "internal", "valkey", "wire", "wiretest", dir)
				wiretest.Run(t, scripts, func(t *testing.T) wiretest.Cluster {
					t.Parallel() // they wait more than they work
					return start(t, version)
				})
			}
		})
	}
}
