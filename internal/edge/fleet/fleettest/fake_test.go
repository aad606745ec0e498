package fleettest_test

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleettest"
)

// The same scripts run on a real server in test/integration/edge.
func TestScriptsOnTheFake(t *testing.T) { fleettest.Run(t, "testdata", fleettest.Fake) }
