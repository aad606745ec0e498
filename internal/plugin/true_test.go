package plugin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

var verb = regexp.MustCompile(`%(\\\[\d\\\])?[a-z]`)

// sayings are the texts that the code can put into a status, as patterns.
func sayings(t *testing.T) (all []*regexp.Regexp) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../plugin") {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			lit, is := n.(*ast.BasicLit)
			if !is || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && len(verb.ReplaceAllString(text, "")) > 15 && strings.Contains(text, " ") {
				all = append(all, regexp.MustCompile(`^`+verb.ReplaceAllString(regexp.QuoteMeta(text), `.+`)))
			}
			return true
		})
		return nil
	})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d sayings: %v", len(all), err)
	}
	return all
}

// The situations say what the code says: somebody who changes the words changes them here.
func TestMessagesAreTrue(t *testing.T) {
	all := sayings(t)
	examples, err := os.ReadFile("../../docs/reference/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	said := func(text string) bool {
		if strings.Contains(string(examples), "| "+text+" |") {
			return true
		}
		text = strings.TrimPrefix(text, "Not done in time: ")
		for _, s := range all {
			if s.MatchString(text) {
				return true
			}
		}
		return false
	}
	for name, f := range situations(t) {
		for _, text := range messages(f.Progress) {
			if name != "unknown_phase" && text != "" && !said(text) {
				t.Errorf("%s: nothing in the code says %q", name, text)
			}
		}
	}
}

func messages(p meta.Progress) []string {
	all := []string{p.WaitingFor}
	for _, c := range p.Conditions {
		all = append(all, c.Message)
	}
	for _, m := range p.History {
		all = append(all, m.Message)
	}
	return all
}
