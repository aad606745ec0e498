package product

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// Deploy runs the manager of an area in pods, as the chart does, and waits until they are ready.
func Deploy(t testing.TB, b *bed.Bed, area, timeout string) {
	t.Helper()
	of := find(t, area)
	image := Registry + "/" + of.Image() + ":0.0.0-dev" // what a chart names that was not packed
	archive, err := bed.ProgramImage(t.Context(), image, "github.com/statecraft-dev/statecraft/cmd/"+of.Program)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.LoadImage(t.Context(), archive); err != nil {
		t.Fatal(err)
	}
	args := []string{"template", "statecraft", filepath.Join(harness.Root(t), "charts", "statecraft"), "--namespace=" + harness.SystemNamespace,
		"--show-only=templates/managers.yaml"}
	for _, a := range areas.All() {
		args = append(args, fmt.Sprintf("--set=areas.%s.enabled=%t", a.Name, a.Name == area))
	}
	for i, arg := range harness.Args(area) {
		args = append(args, fmt.Sprintf("--set=areas.%s.args[%d]=%s", area, i, arg))
	}
	manifest, err := b.Helm(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	harness.Apply(t, b, manifest)
	harness.RolledOut(t, b, harness.SystemNamespace, area, timeout)
}
