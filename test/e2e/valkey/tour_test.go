//go:build full

package valkey

import (
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestTour does what the tour tells a new user to do.
func TestTour(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	harness.Tour(t, s.Bed, area, strings.NewReplacer("valkey/valkey:", "bed.local/valkey:"))
}
