package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// widest is how wide a screen may be.
const widest = 80

// screen is what a command answers: a block without a language, or one with commands and answers.
var screen = regexp.MustCompile("(?ms)^```(?:console)?\n(.*?)^```$")

// block is any, also one that is no screen: its end must not be taken for the beginning of another.
var block = regexp.MustCompile("(?ms)^```\\w*\n.*?^```$")

// TestScreensFit measures what README, quick start, installation and tours show of answers. Commands may be longer: people
// copy them.
func TestScreensFit(t *testing.T) {
	root, screens := harness.Root(t), 0
	for _, path := range glob(t, root, "README.md", "docs/quickstart.md", "docs/install.md", "docs/tours/*.md") {
		for _, text := range block.FindAllString(source(t, path), -1) {
			shown := screen.FindStringSubmatch(text)
			if shown == nil {
				continue
			}
			screens++
			for line := range strings.Lines(shown[1]) {
				line = strings.TrimRight(line, "\n")
				if n := len([]rune(line)); n > widest && !strings.HasPrefix(line, "$ ") {
					t.Errorf("%s: %d columns: %s", filepath.Base(path), n, line)
				}
			}
		}
	}
	if screens < 15 {
		t.Errorf("only %d screens were found", screens)
	}
}
