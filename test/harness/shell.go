package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	heading    = regexp.MustCompile(`(?m)^#{2,} .*$`)
	hereDoc    = regexp.MustCompile(`<<(\w+)$`)
	// remembered is what a shell keeps from one command to the next: aliases and variables.
	remembered = regexp.MustCompile(`^(alias |\w+=)`)
)

// Section is the text of a page below a heading, up to the next.
func Section(t testing.TB, page, title string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n"+title+"\n")
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
	t      testing.TB
	env    []string
	before []string
}

// NewPerson has an environment. Variables of make are left out: a test may be run by make itself.
func NewPerson(t testing.TB, env []string) *Person {
	t.Helper()
	p := &Person{t: t}
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" && name != "AREA" {
			p.env = append(p.env, e)
		}
	}
	return p
}

// Type types a statement and returns what it printed.
func (p *Person) Type(statement string) (string, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), timeout.Wait)
	defer cancel()
	lines := append([]string{"set -eo pipefail", "shopt -s expand_aliases"}, p.before...)
	out, err := p.Command(ctx, "bash", "-c", strings.Join(append(lines, statement), "\n")).CombinedOutput()
	p.t.Logf("$ %s\n%s", statement, out)
	if err == nil && remembered.MatchString(statement) {
		p.before = append(p.before, statement)
	}
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
	cmd.Dir, cmd.Env = Root(p.t), p.env
	return cmd
}
