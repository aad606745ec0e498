//go:build full

package capture

import (
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestTour does what the tour tells a new user to do.
func TestTour(t *testing.T) {
	s := newStage(t)
	for _, namespace := range []string{"shop", "staging"} {
		t.Cleanup(func() { _, _ = s.Bed.Kubectl(t.Context(), "delete", "namespace", namespace, "--ignore-not-found") })
	}
	harness.Tour(t, s.Bed, area, strings.NewReplacer("busybox:1.36", images.Busybox))
}
