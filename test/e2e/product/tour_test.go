//go:build full

package product

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestTourOfRemediation follows the tour on a release of another name in another namespace, with the limits that users have: what
// the page does one after the other must not wait for a brake.
func TestTourOfRemediation(t *testing.T) {
	const system = "platform"
	s := newStage(t, system)
	s.install("prod", first)
	t.Cleanup(func() {
		_, _ = s.bed.Kubectl(context.WithoutCancel(t.Context()), "delete", "namespace", "shop", "--ignore-not-found")
	})
	t.Setenv("PATH", filepath.Dir(product.Build(t, s.bed, "kubectl-statecraft"))+string(os.PathListSeparator)+os.Getenv("PATH"))
	harness.Tour(t, s.bed, "remediation", config.Namespace, system)
}
