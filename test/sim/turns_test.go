package sim_test

import (
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/sim"
	"github.com/statecraft-dev/statecraft/test/sim/valkey"
)

// A hold that does not look again by itself waits for ever when its holder vanishes, because that is no event.
func TestAHoldWithoutItsWakeIsFound(t *testing.T) {
	_, err := sim.NewLab(t, controlPlane(t), valkey.Deaf()).Run(t.Context(), sim.Options{})
	if err == nil || !strings.Contains(err.Error(), "ConfigMap") {
		t.Errorf("a cluster that never looks again at what holds it: %v", err)
	}
}
