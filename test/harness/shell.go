package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	heading    = regexp.MustCompile(`(?m)^#{2,} .*$`)
	hereDoc    = regexp.MustCompile(`<<(\w+)$`)
)

// Page is the text of a page.
func Page(t testing.TB, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Section is the text of a page below a heading, up to the next.
func Section(t testing.TB, page, title string) string {
	t.Helper()
	_, below, found := strings.Cut(Page(t, page), "\n"+title+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", page, title)
	}
	if next := heading.FindStringIndex(below); next != nil {
		below = below[:next[0]]
	}
	return below
}

// Statements are the commands that a section tells a person to type, in order.
func Statements(section string) (all []string) {
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		lines := strings.Split(strings.TrimSpace(block[1]), "\n")
		for i := 0; i < len(lines); i++ {
			statement := lines[i]
			if doc := hereDoc.FindStringSubmatch(statement); doc != nil {
				for lines[i] != doc[1] {
					i++
					statement += "\n" + lines[i]
				}
			}
			if strings.TrimSpace(statement) != "" {
				all = append(all, statement)
			}
		}
	}
	return all
}

// Person types statements, one after another, into a shell at the root of the checkout.
type Person struct {
	t    testing.TB
	env  []string
	kept string // aliases and variables that the shell has by now
}

// NewPerson has an environment. Variables of make are left out: a test may be run by make itself.
func NewPerson(t testing.TB, env []string) *Person {
	t.Helper()
	p := &Person{t: t, kept: filepath.Join(t.TempDir(), "kept")}
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" && name != "AREA" {
			p.env = append(p.env, e)
		}
	}
	if err := os.WriteFile(p.kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// script types a statement into a shell that has the aliases of the one before it, and its variables.
const script = `set -eo pipefail; shopt -s expand_aliases; source "$KEPT"
%s
{ alias; declare -p | grep -E '^declare (-- |-x PATH=)'; } >"$KEPT"
`

// Type types a statement and returns what it printed.
func (p *Person) Type(statement string) (string, error) {
	p.t.Helper()
	within := timeout.Wait
	if strings.HasPrefix(statement, "make ") {
		within = timeout.Build
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), within)
	defer cancel()
	cmd := p.Command(ctx, "bash", "-c", fmt.Sprintf(script, statement))
	cmd.Env = append(cmd.Env, "KEPT="+p.kept)
	out, err := cmd.CombinedOutput()
	p.t.Logf("$ %s\n%s", statement, out)
	return string(out), err
}

// Must types a statement that has to succeed.
func (p *Person) Must(statement string) string {
	p.t.Helper()
	out, err := p.Type(statement)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", statement, err, out)
	}
	return out
}

// Command is a program with the person's environment.
func (p *Person) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = Root(p.t), slices.Clone(p.env)
	return cmd
}
