package harness

import (
	"fmt"
	"os"
	"testing"
)

// Row adds a line to the table that is printed when all tests of a run have ended: what was tried, and what was
// measured. The table is a file that TABLE names; without it the row is in the test's log only.
func Row(t testing.TB, format string, args ...any) {
	t.Helper()
	figure := fmt.Sprintf(format, args...)
	t.Log(figure)
	path := os.Getenv("TABLE")
	if path == "" {
		return
	}
	table, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	if _, err := fmt.Fprintf(table, "%-64s  %s\n", t.Name(), figure); err != nil {
		t.Fatal(err)
	}
}
