package law

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decided finds links such as [`plan.ProveFailover`](../internal/valkey/plan/prove_failover.go).
var decided = regexp.MustCompile("\\[`([^`]+)`\\]\\(([^)]+)\\)")

// TestPageLeadsToDecisions: a page that leads to the wrong place is worse than none.
func TestPageLeadsToDecisions(t *testing.T) {
	page, err := os.ReadFile("../../docs/where-is-it-decided.md")
	if err != nil {
		t.Fatal(err)
	}
	links := decided.FindAllStringSubmatch(string(page), -1)
	if len(links) < 40 {
		t.Fatalf("only %d links were found", len(links))
	}
	for _, link := range links {
		if err := declares(filepath.Join("../../docs", link[2]), link[1]); err != nil {
			t.Error(err)
		}
	}
}

func TestDeclares(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lamp.go")
	text := "package lamp\n\nconst Off, On = 0, 1\n\nvar wire int\n\ntype Lamp struct{ Lit bool }\n\nfunc (l *Lamp) Press() {}\n\n" +
		"type box[T any] struct{}\n\nfunc (box[T]) open() {}\n\nfunc Make() {}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for symbol, want := range map[string]bool{
		"lamp.Make": true, "lamp.On": true, "lamp.wire": true, "lamp.Lamp": true, "lamp.Lamp.Press": true, "lamp.Lamp.Lit": true, "lamp.box.open": true,
		"lamp.Press": false, "lamp.Off.Press": false, "lamp.Break": false, "desk.Make": false, "lamp": false,
	} {
		if err := declares(file, symbol); (err == nil) != want {
			t.Errorf("%s: %v", symbol, err)
		}
	}
	if declares(file+"x", "lamp.Make") == nil {
		t.Error("a file that does not exist declares something")
	}
}

// declares says that a Go file declares package.Name or package.Type.Member, or that another file names the symbol.
func declares(file, symbol string) error {
	missing := fmt.Errorf("%s does not declare %s", file, symbol)
	if !strings.HasSuffix(file, ".go") {
		text, err := os.ReadFile(file)
		if err == nil && !strings.Contains(string(text), "name: "+symbol+"\n") {
			err = missing
		}
		return err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", file, err)
	}
	for _, d := range tree.Decls {
		for _, name := range declaredBy(d) {
			if tree.Name.Name+"."+name == symbol {
				return nil
			}
		}
	}
	return missing
}

// declaredBy are the names of a declaration: of a method or a field, behind that of its type.
func declaredBy(d ast.Decl) (names []string) {
	if f, ok := d.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		return []string{receiver(f.Recv.List[0].Type) + "." + f.Name.Name}
	}
	for _, s := range d.(*ast.GenDecl).Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			for _, n := range s.Names {
				names = append(names, n.Name)
			}
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
			if fields, ok := s.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					for _, n := range f.Names {
						names = append(names, s.Name.Name+"."+n.Name)
					}
				}
			}
		}
	}
	return names
}

// receiver is Lamp for Lamp, *Lamp and *Lamp[T].
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
