//go:build full

package valkey

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

var (
	fenced = regexp.MustCompile("(?ms)^```(yaml|console)\n(.*?)^```$")
	// whatVaries are names of pods, versions, times and counts, which are not the same twice.
	whatVaries = regexp.MustCompile(`\b(web-\d+-\d+|\d+(\.\d+)*|\d+[smh](\d+s)?|[0-9]+/[0-9]+)\b`)
)

const commandWithin = 7 * time.Minute

// TestTour does what the tour tells a new user to do, from top to bottom.
func TestTour(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	s.must(s.b.LoadImages(t.Context(), images.Valkey91))
	text, err := os.ReadFile(filepath.Join(harness.Root(t), "docs", "tours", "valkey.md"))
	s.must(err)
	tour := strings.ReplaceAll(string(text), "valkey/valkey:", "bed.local/valkey:") // the bed pulls nothing
	dir, commands := t.TempDir(), 0
	for _, block := range fenced.FindAllStringSubmatch(tour, -1) {
		if block[1] == "yaml" {
			name := regexp.MustCompile(`(?m)^  name: (.*)$`).FindStringSubmatch(block[2])[1]
			s.must(os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(block[2]), 0o600))
			continue
		}
		for _, step := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			s.follow(dir, command, want)
			commands++
		}
	}
	harness.Row(t, "%d commands of the page work as printed", commands)
}

// follow runs a command as it is printed and compares its answer, but for what varies.
func (s *stage) follow(dir, command, want string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), commandWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.Env = s.b.Environment()
	began := time.Now()
	out, err := cmd.CombinedOutput()
	s.t.Logf("%5.1f s $ %s\n%s", time.Since(began).Seconds(), command, out)
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	if strings.TrimSpace(want) != "" && steady(string(out)) != steady(want) {
		s.t.Errorf("%s\nanswers\n%s\nthe page says\n%s", command, out, want)
	}
}

func steady(answer string) string {
	return strings.Join(strings.Fields(whatVaries.ReplaceAllString(answer, "…")), " ")
}
