package access

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// byTheClient are commands that the client sends by itself when it connects, and while
// nothing else is sent.
var byTheClient = []string{"client|setname", "ping"}

// freeToAll are commands that need no right.
var freeToAll = []string{"auth"}

// TestTheOperatorMayDoWhatItDoes compares the list with the commands in the sources of
// all that log on as the operator's user. One that is sent and not on the list would be
// denied in the middle of an operation; one that is on the list and not sent is a right
// that nobody needs.
func TestTheOperatorMayDoWhatItDoes(t *testing.T) {
	sent := slices.Clone(byTheClient)
	for _, dir := range []string{"../wire", "../node"} {
		sent = append(sent, commandsIn(t, dir)...)
	}
	slices.Sort(sent)
	sent = slices.Compact(sent)
	listed := OperatorCommands("9.1.2")
	for _, c := range sent {
		if !slices.Contains(listed, c) && !slices.Contains(freeToAll, c) {
			t.Errorf("%s is sent, and the operator's user may not do it", c)
		}
	}
	for _, c := range listed {
		if !slices.Contains(sent, c) {
			t.Errorf("the operator's user may do %s, which is never sent", c)
		}
	}
}

func commandsIn(t *testing.T, dir string) (commands []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if c, is := commandAt(n); is {
				commands = append(commands, c)
			}
			return true
		})
	}
	return commands
}

// commandAt finds a command in a list of words, or in what is given to ask.
func commandAt(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		list, is := n.Type.(*ast.ArrayType)
		if !is {
			return "", false
		}
		if of, is := list.Elt.(*ast.Ident); !is || of.Name != "string" {
			return "", false
		}
		return command(n.Elts)
	case *ast.CallExpr:
		if name, is := n.Fun.(*ast.Ident); is && name.Name == "ask" {
			for i := range n.Args {
				if c, is := command(n.Args[i:]); is {
					return c, true
				}
			}
		}
	}
	return "", false
}

var withSubcommands = []string{"acl", "client", "cluster", "config", "function", "script"}

// command reads the words that begin a command: constants in capitals.
func command(words []ast.Expr) (string, bool) {
	if len(words) == 0 {
		return "", false
	}
	first, is := capitals(words[0])
	if !is || !slices.Contains(withSubcommands, first) {
		return first, is
	}
	if len(words) < 2 {
		return first, true
	}
	second, is := capitals(words[1])
	return first + "|" + second, is
}

func capitals(e ast.Expr) (string, bool) {
	literal, is := e.(*ast.BasicLit)
	if !is || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil || text == "" || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return "", false
	}
	return strings.ToLower(text), true
}
