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
	harness.NewManager(t, s.b, area).Start()
	s.must(s.b.LoadImages(t.Context(), images.Valkey91))
	harness.Tour(t, s.b, area, strings.NewReplacer("valkey/valkey:", "bed.local/valkey:"))
}
