package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
)

var (
	fenced   = regexp.MustCompile("(?ms)^```(yaml|console)\n(.*?)^```$")
	fileName = regexp.MustCompile(`^# (\S+\.yaml)\n`)
	// whatVaries are counts, versions, times, UIDs, digests, and names that end in them, which are not the same twice.
	whatVaries = regexp.MustCompile(`\b(web-\d+-\d+|(more|again|few)-[a-z0-9]{5}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|\d+Z|\d+(\.\d+)*|\d+[smh](\d+s)?|[0-9]+/[0-9]+)\b`)
)

const commandWithin = 7 * time.Minute

// Tour does what a tour in docs/tours tells a new user to do, from top to bottom: manifests are saved under the name
// in their first line, commands are run as they are printed, and what they answer is compared. Of pairs of words in
// instead, the second stands for the first one, such as another namespace for the one in which the page installs.
func Tour(t *testing.T, b *bed.Bed, name string, instead ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), "docs", "tours", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, commands := t.TempDir(), 0
	page := strings.NewReplacer(instead...).Replace(string(text))
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		if block[1] == "yaml" {
			save(t, dir, block[2])
			continue
		}
		for _, step := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			follow(t, b, dir, command, want)
			commands++
		}
	}
	Row(t, "%d commands of the page work as printed", commands)
}

// save saves a manifest under the name in its first line.
func save(t *testing.T, dir, manifest string) {
	t.Helper()
	name := fileName.FindStringSubmatch(manifest)
	if name == nil {
		t.Fatalf("a manifest does not say in its first line under which name to save it:\n%s", manifest)
	}
	if err := os.WriteFile(filepath.Join(dir, name[1]), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
}

// follow runs a command as it is printed and compares its answer, but for what varies.
func follow(t *testing.T, b *bed.Bed, dir, command, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.Env = b.Environment()
	began := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("%5.1f s $ %s\n%s", time.Since(began).Seconds(), command, out)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if strings.TrimSpace(want) != "" && steady(string(out)) != steady(want) {
		t.Errorf("%s\nanswers\n%s\nthe page says\n%s", command, out, want)
	}
}

func steady(answer string) string {
	return strings.Join(strings.Fields(whatVaries.ReplaceAllString(answer, "…")), " ")
}
