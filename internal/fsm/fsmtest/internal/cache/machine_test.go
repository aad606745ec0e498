package cache

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

func TestMachine(t *testing.T)     { fsmtest.Try(t, Bench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, Bench()) }

// TestLeaving drills deletion.
func TestLeaving(t *testing.T) { fsmtest.Drill(t, Leaving()) }

// TestSlowStart drills a server that is not ready for a long time.
func TestSlowStart(t *testing.T) {
	b := Bench()
	b.Settle = func(c *Cache, w World) World {
		if c.Status.Phase == Degraded {
			return Settle(c, w)
		}
		return w
	}
	fsmtest.Drill(t, b)
}
