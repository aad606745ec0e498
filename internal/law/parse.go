package law

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

func parse(name, file string) (File, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return File{}, err
	}
	f := File{Name: name}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return File{}, err
		}
		f.Imports = append(f.Imports, Use{ours(imported), set.Position(spec.Pos()).Line})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			f.Calls = append(f.Calls, Use{chain(sel), set.Position(sel.Pos()).Line})
		}
		return true
	})
	return f, nil
}

// chain writes time.Now as it stands, and x.Status().Update as .Status().Update.
func chain(sel *ast.SelectorExpr) string {
	switch x := sel.X.(type) {
	case *ast.Ident:
		return x.Name + "." + sel.Sel.Name
	case *ast.CallExpr:
		if inner, ok := x.Fun.(*ast.SelectorExpr); ok {
			return "." + inner.Sel.Name + "()." + sel.Sel.Name
		}
	}
	return "." + sel.Sel.Name
}
