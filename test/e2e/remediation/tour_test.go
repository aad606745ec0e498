//go:build full

package remediation

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestTour does what the tour tells a new user to do.
func TestTour(t *testing.T) {
	s := newStage(t)
	if err := s.bed.LoadImages(t.Context(), images.Busybox); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = s.bed.Kubectl(context.WithoutCancel(t.Context()), "delete", "namespace", "shop", "--ignore-not-found")
	})
	t.Setenv("PATH", filepath.Dir(product.Build(t, s.bed, "kubectl-statecraft"))+string(os.PathListSeparator)+os.Getenv("PATH"))
	harness.Tour(t, s.bed, area)
}
