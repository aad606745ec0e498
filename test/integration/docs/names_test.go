package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/plugin"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// Names in pages: what makes one, and in which group of the expression it is.
var (
	imageName  = regexp.MustCompile(`(?:\bimage"?: *"?|\.status\.image\}'?=)([\w./-]+:[\w.-]+)`)
	makeTarget = regexp.MustCompile("(?m)(?:^|`)" + `make ([a-z0-9-]+)((?: [A-Z]+=\S*)*)`)
	fileInTree = regexp.MustCompile(`(?:^|[\s"(` + "`" + `]|\$PWD/)((?:config|hack|docs|test|internal|cmd|api)/[\w./-]*[\w-])`)
	link       = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	ourFlag    = regexp.MustCompile("`--([a-z-]+)")
)

// pages are those that tell people what to type, and the samples.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root, all := harness.Root(t), map[string]string{}
	for _, pattern := range []string{"README.md", "docs/install.md", "docs/quickstart.md", "docs/tours/*.md", "docs/areas/*.md", "docs/reference/*.md", "docs/contributing/first-hour.md", "config/samples/*/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no page %s: %v", pattern, err)
		}
		for _, path := range found {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = source(t, path)
		}
	}
	return all
}

// source is the text of files.
func source(t *testing.T, paths ...string) (text string) {
	t.Helper()
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text += string(content)
	}
	return text
}

// TestWhatPagesNameExists holds README, install page, quick start, tours, reference and samples to the images of the bed, the
// targets of make, the files of the tree and the flags of our programs, of kubectl and of Helm.
func TestWhatPagesNameExists(t *testing.T) {
	root := harness.Root(t)
	var known []string
	for _, tag := range images.All() {
		known = append(known, images.Names(tag)...)
	}
	makefile := source(t, filepath.Join(root, "Makefile"))
	flags := source(t, glob(t, root, "cmd/*/*.go", "cmd/internal/*/*.go", "internal/areas/*.go", "internal/plugin/*.go")...)
	others := plugin.NewCommand().UsageString() + helpOfHelm(t)
	for page, text := range pages(t) {
		for _, name := range matches(imageName, text) {
			if !slices.Contains(known, name[1]) {
				t.Errorf("%s names image %s, which the bed lacks", page, name[1])
			}
		}
		for _, name := range matches(makeTarget, text) {
			checkTarget(t, page, makefile, name[1], name[2])
		}
		for _, name := range matches(ourFlag, text) {
			ours, theirs := strings.Contains(flags, `"`+name[1]+`"`), regexp.MustCompile("--"+name[1]+"[ =]").MatchString(others)
			if !ours && !theirs {
				t.Errorf("%s names flag --%s, which no program of ours has, nor kubectl or Helm", page, name[1])
			}
		}
		for _, name := range matches(fileInTree, text) {
			checkFile(t, page, filepath.Join(root, name[1]))
		}
		for _, name := range matches(link, text) {
			checkFile(t, page, filepath.Join(root, filepath.Dir(page), name[1]))
		}
	}
}

func helpOfHelm(t *testing.T) string {
	t.Helper()
	dir, err := parts.Dir(t.Context(), parts.Helm)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "helm"), "upgrade", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func matches(of *regexp.Regexp, text string) [][]string { return of.FindAllStringSubmatch(text, -1) }

func checkTarget(t *testing.T, page, makefile, target, variables string) {
	t.Helper()
	if !strings.Contains(makefile, "\n"+target+":") {
		t.Errorf("%s names make %s, which is no target", page, target)
	}
	for _, variable := range strings.Fields(variables) {
		if name, _, _ := strings.Cut(variable, "="); !strings.Contains(makefile, name) {
			t.Errorf("%s names make %s %s, of which the Makefile knows nothing", page, target, variable)
		}
	}
}

func checkFile(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names a file that does not exist: %v", page, err)
	}
}

func glob(t *testing.T, root string, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}
