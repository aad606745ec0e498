package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
)

var promise = regexp.MustCompile("(?m)^\\| (.+) \\| `(Test\\w+)` \\| `([\\w/]+)` \\| (core|full) \\|$")

// TestEveryPromiseHasItsTest compares the table of promises with the code.
func TestEveryPromiseHasItsTest(t *testing.T) {
	root := harness.Root(t)
	section := harness.Section(t, "docs/contributing/testing.md", "## Promises")
	rows := matches(promise, section)
	if lines := strings.Count(section, "\n|") - 2; len(rows) < 25 || len(rows) != lines {
		t.Errorf("of %d rows %d say what is promised, by which test, where and at which level", lines, len(rows))
	}
	for _, row := range rows {
		words, test, folder, level := row[1], row[2], row[3], row[4]
		found := ""
		for _, file := range glob(t, root, folder+"/*_test.go") {
			if text := source(t, file); strings.Contains(text, "\nfunc "+test+"(t *testing.T)") {
				found = "core"
				if strings.HasPrefix(text, "//go:build full\n") {
					found = "full"
				}
			}
		}
		if found != level {
			t.Errorf("%q is promised by %s of %s at level %s; its level is %q", words, test, folder, level, found)
		}
	}
}
