package execution

import (
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

func TestMachine(t *testing.T)     { fsmtest.Try(t, Bench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, Bench()) }

// TestApprovedPath drills the path by way of a person.
func TestApprovedPath(t *testing.T) {
	b := Bench()
	b.World = func() World {
		return World{Checks: Valid, Digest: "d1", Footprint: "f1", NeedsApproval: true,
			Approval: &Approval{Digest: "d1", Expires: time.Unix(1_800_000_000, 0).UTC()}}
	}
	fsmtest.Drill(t, b)
}
