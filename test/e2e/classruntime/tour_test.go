//go:build full

package classruntime

import (
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestTour does what the tour tells a new user to do.
func TestTour(t *testing.T) {
	s := newStage(t)
	harness.Tour(t, s.Bed, area)
}
