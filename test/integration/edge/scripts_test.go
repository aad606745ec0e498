package edge

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleettest"
)

// What the fake does is what the server does.
func TestScriptsOnTheServer(t *testing.T) {
	fleettest.Run(t, "../../../internal/edge/fleet/fleettest/testdata", stages(t))
}
