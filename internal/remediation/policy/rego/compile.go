package rego

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// Policy is a pack that compiles.
type Policy struct {
	compiler *ast.Compiler
}

// Compile reads a pack, without its tests.
func Compile(pack policy.Pack) (*Policy, error) {
	can := capabilities()
	modules, err := parse(pack.Deciding(), can)
	if err != nil {
		return nil, err
	}
	compiler := newCompiler(can)
	if compiler.Compile(modules); compiler.Failed() {
		return nil, describe(compiler.Errors)
	}
	return &Policy{compiler: compiler}, nil
}

func newCompiler(can *ast.Capabilities) *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(can).WithDefaultRegoVersion(ast.RegoV1)
}

func parse(pack policy.Pack, can *ast.Capabilities) (map[string]*ast.Module, error) {
	modules := map[string]*ast.Module{}
	for _, m := range pack.Modules {
		if _, twice := modules[m.Name]; twice {
			return nil, fmt.Errorf("the pack has two modules called %s", m.Name)
		}
		module, err := ast.ParseModuleWithOpts(m.Name, m.Text, ast.ParserOptions{RegoVersion: ast.RegoV1, Capabilities: can})
		if err != nil {
			return nil, describe(err)
		}
		modules[m.Name] = module
	}
	return modules, nil
}

// describe is the first of several errors on one line, with the number of the others. Errors are
// sorted by their place, so that the same pack always has the same error.
func describe(err error) error {
	text, more := err.Error(), 0
	if all := (ast.Errors)(nil); errors.As(err, &all) && len(all) > 0 {
		all.Sort()
		text, more = all[0].Error(), len(all)-1
	}
	text = strings.Join(strings.Fields(text), " ")
	if more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return errors.New(text)
}
