//go:build full

// Package quickstart does what docs/quickstart.md tells a new user to do, on a cluster that it starts itself.
package quickstart

import (
	"os"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestQuickStartWorksAsPrinted types every command of the page.
func TestQuickStartWorksAsPrinted(t *testing.T) {
	me := harness.NewPerson(t, append(os.Environ(), "TMPDIR="+t.TempDir()))
	t.Cleanup(func() { _, _ = me.Type("make bed-down") }) // if the page did not get there
	for _, statement := range harness.Statements(harness.Page(t, "docs/quickstart.md")) {
		if !strings.HasPrefix(statement, "kubectl statecraft why") {
			me.Must(statement)
			continue
		}
		// It ends with 1: the cluster is not as wished.
		out, err := me.Type(statement)
		for _, words := range []string{"Paused", "Acts", "the owner of the object"} {
			if err == nil || !strings.Contains(out, words) {
				t.Errorf("%s: %v, which does not say %q:\n%s", statement, err, words, out)
			}
		}
	}
}
