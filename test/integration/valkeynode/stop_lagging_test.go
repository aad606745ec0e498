package valkeynode

import (
	"syscall"
	"testing"
	"time"
)

// TestAServerWaitsForALaggingReplicaBeforeItStops explains servers that take long to stop: with a replica that lacks writes and takes none, a
// hand-over gives up (20 s in a pod), and then the server itself waits for the replica as long as shutdown-timeout says (10 s in a pod). One
// whose replica has everything stops at once.
func TestAServerWaitsForALaggingReplicaBeforeItStops(t *testing.T) {
	t.Parallel()
	const shutdown = 3 * time.Second
	forEachVersion(t, unnoticed, true, func(t *testing.T, c *cluster) {
		primary, replica := c.mustOwner(t, 0)
		_, err := primary.do(t.Context(), "CONFIG", "SET", "shutdown-timeout", "3")
		c.must(t, err)
		c.must(t, replica.cmd.Process.Signal(syscall.SIGSTOP))
		t.Cleanup(replica.kill)
		c.fill(t, primary, 0)
		began := time.Now()
		primary.end(syscall.SIGTERM)
		if took := time.Since(began); took < shutdown-time.Second {
			t.Errorf("a server whose replica lacks writes stopped after %s", took)
		}

		other, _ := c.mustOwner(t, 1)
		_, err = other.do(t.Context(), "CONFIG", "SET", "shutdown-timeout", "60")
		c.must(t, err)
		began = time.Now()
		other.end(syscall.SIGTERM)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("a server whose replica has everything took %s to stop", took)
		}
	})
}
