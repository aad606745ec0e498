package rego

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// longestTest is how long one test of a pack may take.
const longestTest = 5 * time.Second

// Result is what one test of a pack came to.
type Result struct {
	Module  string        `json:"module"`
	Line    int           `json:"line"`
	Name    string        `json:"name"`
	Passed  bool          `json:"passed"`
	Skipped bool          `json:"skipped,omitempty"`
	Message string        `json:"message,omitempty"`
	Took    time.Duration `json:"took"`
}

// Test runs the tests of a pack under the rules of Open Policy Agent's own tester: those that
// begin with test_ must be true. A pack may call what it may call in production, and no more. The
// error is that of a pack that does not compile.
func Test(ctx context.Context, pack policy.Pack) ([]Result, error) {
	can := capabilities("internal.test_case") // the tester names the cases of a test with it
	modules, err := parse(pack, can)
	if err != nil {
		return nil, err
	}
	ran, err := tester.NewRunner().SetCompiler(newCompiler(can)).SetModules(modules).
		RaiseBuiltinErrors(true).SetTimeout(longestTest).RunTests(ctx, nil)
	if err != nil {
		return nil, describe(err)
	}
	var results []Result
	for r := range ran {
		results = append(results, resultOf(r))
	}
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	return results, ctx.Err()
}

func resultOf(r *tester.Result) Result {
	is := Result{Name: r.Name, Passed: r.Pass(), Skipped: r.Skip, Took: r.Duration}
	if r.Location != nil {
		is.Module, is.Line = r.Location.File, r.Location.Row
	}
	switch {
	case r.Error != nil:
		is.Message = policy.Cut(describe(r.Error).Error())
	case r.Fail:
		is.Message = "the test is not true"
	}
	return is
}
