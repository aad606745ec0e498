//go:build full

package capture

import (
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestTour does what the tour tells a new user to do.
func TestTour(t *testing.T) {
	s := newStage(t, "--capture-retention-min=1h") // as users have it
	for _, namespace := range []string{"shop", "staging"} {
		t.Cleanup(func() { _, _ = s.Bed.Kubectl(t.Context(), "delete", "namespace", namespace, "--ignore-not-found") })
	}
	harness.Tour(t, s.Bed, area)
}
