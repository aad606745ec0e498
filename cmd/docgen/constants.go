package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// constant is a declared reason or event and the sentence that documents it.
type constant struct{ kind, value, doc, name string }

// constants finds the constants of type Reason and Event in some folders, by their
// declarations: a comment is not there at run time.
func constants(root string, folders ...string) (found []constant, err error) {
	for _, folder := range folders {
		files, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil {
			return nil, fmt.Errorf("read package %s: %w", folder, err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, folder, f.Name()), nil, parser.ParseComments)
			if err != nil {
				return nil, fmt.Errorf("parse package %s: %w", folder, err)
			}
			found = append(found, declared(tree)...)
		}
	}
	return found, nil
}

func declared(tree *ast.File) (found []constant) {
	for _, d := range tree.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			spec := s.(*ast.ValueSpec)
			kind := typeName(spec.Type)
			if kind != "Reason" && kind != "Event" {
				continue
			}
			doc := sentence(spec.Doc, spec.Comment)
			if doc == "" && !group.Lparen.IsValid() {
				doc = sentence(group.Doc)
			}
			for i, v := range spec.Values {
				if text, ok := literal(v); ok {
					found = append(found, constant{kind, text, withoutName(doc, spec.Names[i].Name), spec.Names[i].Name})
				}
			}
		}
	}
	return found
}

// typeName is Reason for Reason, fsm.Reason and meta.Reason.
func typeName(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// sentence is the first comment that says something, on one line.
func sentence(comments ...*ast.CommentGroup) string {
	i := slices.IndexFunc(comments, func(c *ast.CommentGroup) bool { return c != nil && c.Text() != "" })
	if i < 0 {
		return ""
	}
	return strings.ReplaceAll(strings.Join(strings.Fields(comments[i].Text()), " "), "|", "\\|")
}

// withoutName turns "ReasonPaused says that …" into "says that …": the table has the
// name in the cell beside it.
func withoutName(doc, name string) string {
	rest, ok := strings.CutPrefix(doc, name+" ")
	if !ok {
		return doc
	}
	return strings.TrimPrefix(rest, "is ")
}

// mentioned are those constants that some files name.
func mentioned(root string, all []constant, globs ...string) (named []constant, err error) {
	var text strings.Builder
	for _, glob := range globs {
		files, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("find %s: %w", glob, errors.Join(err, os.ErrNotExist))
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			if !strings.HasSuffix(file, "_test.go") {
				text.Write(source)
			}
		}
	}
	for _, c := range all {
		if regexp.MustCompile(`\.` + c.name + `\b`).MatchString(text.String()) {
			named = append(named, c)
		}
	}
	return named, nil
}
