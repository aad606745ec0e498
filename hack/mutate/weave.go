package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Building takes longer than testing, so mutants that change nothing but the inside of a
// function are built together: the function is there once as it is, and once more for each
// of its mutants, and an environment variable says which of them lives.

// aliveVariable names the mutant that lives.
const aliveVariable = "STATECRAFT_MUTANT"

// aliveFile is added to every package that has mutants woven into it.
const (
	aliveFile = "zz_mutant_alive.go"
	aliveText = "package %s\n\nimport \"os\"\n\nvar mutantAlive = os.Getenv(%q)\n"
)

// insertion is text that comes into a file.
type insertion struct {
	at   int
	text string
}

// weave puts mutants, by their names, into one file. Those that change more than the
// inside of one function are left: they are built alone.
func weave(source string, mutants map[string]mutant) (text, pkg string, left []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return source, "", names(mutants)
	}
	var in []insertion
	woven := 0
	for _, name := range names(mutants) {
		f, found := enclosing(files, file, source, mutants[name].from)
		other, ok := "", false
		if found {
			other, ok = f.mutate(source, mutants[name], name)
		}
		if !ok {
			left = append(left, name)
			continue
		}
		woven++
		in = append(in, insertion{f.body, f.branch(name)}, insertion{len(source), "\n" + other + "\n"})
	}
	slices.SortStableFunc(in, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	last := 0
	for _, i := range in {
		b.WriteString(source[last:i.at] + i.text)
		last = i.at
	}
	b.WriteString(source[last:])
	if woven > 0 {
		pkg = file.Name.Name
	}
	return b.String(), pkg, left
}

func names(mutants map[string]mutant) (list []string) {
	for name := range mutants {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// function is one of a file, and where it is.
type function struct {
	*ast.FuncDecl
	from, body, to int // of the declaration, behind its first brace, and its end
}

// enclosing is the function that a piece of text is in.
func enclosing(files *token.FileSet, file *ast.File, source, piece string) (function, bool) {
	start := strings.Index(source, "\n"+piece+"\n") + 1
	at := func(p token.Pos) int { return files.Position(p).Offset }
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if is && f.Body != nil && at(f.Pos()) <= start && start+len(piece) <= at(f.End()) {
			return function{f, at(f.Pos()), at(f.Body.Lbrace) + 1, at(f.End())}, true
		}
	}
	return function{}, false
}

// mutate is the function with a mutant in it, under another name; false if that cannot be.
func (f function) mutate(source string, m mutant, name string) (string, bool) {
	text := strings.Replace("\n"+source[f.from:f.to]+"\n", "\n"+m.from+"\n", "\n"+m.to+"\n", 1)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", "package p\n"+text, parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 || !f.named() {
		return "", false
	}
	other, is := file.Decls[0].(*ast.FuncDecl)
	if !is || other.Name.Name != f.Name.Name || shape(other) != shape(f.FuncDecl) {
		return "", false
	}
	other.Name.Name = f.other(name)
	var b strings.Builder
	err = format.Node(&b, files, other)
	return b.String(), err == nil
}

func (f function) other(name string) string { return f.Name.Name + "_mutant_" + name }

// named says that everything that is given to the function has a name to hand it on by.
func (f function) named() bool {
	lists := []*ast.FieldList{f.Type.Params}
	if f.Recv != nil {
		lists = append(lists, f.Recv)
	}
	for _, list := range lists {
		for _, field := range list.List {
			if len(field.Names) == 0 || slices.ContainsFunc(field.Names, func(n *ast.Ident) bool { return n.Name == "_" }) {
				return false
			}
		}
	}
	return true
}

// branch hands on to the mutant if that lives.
func (f function) branch(name string) string {
	call := f.other(name)
	if f.Recv != nil {
		call = f.Recv.List[0].Names[0].Name + "." + call
	}
	if types := arguments(f.Type.TypeParams); types != "" {
		call += "[" + types + "]"
	}
	call += "(" + arguments(f.Type.Params) + ")"
	if f.Type.Results == nil {
		return fmt.Sprintf("\n\tif mutantAlive == %q {\n\t\t%s\n\t\treturn\n\t}\n", name, call)
	}
	return fmt.Sprintf("\n\tif mutantAlive == %q {\n\t\treturn %s\n\t}\n", name, call)
}

func arguments(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var all []string
	for _, field := range list.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, n := range field.Names {
			name := n.Name
			if variadic {
				name += "..."
			}
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

// shape is what callers see of a function.
func shape(f *ast.FuncDecl) string {
	var b strings.Builder
	bare := &ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type}
	if format.Node(&b, token.NewFileSet(), bare) != nil {
		return ""
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
