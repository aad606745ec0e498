// Command statecraft-remediation runs the controllers of area remediation. Called as `statecraft-remediation evaluate`
// it answers one question about the policy pack, as a limited child of itself.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/statecraft-dev/statecraft/cmd/internal/process"
	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/child"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/rego"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == areas.EvaluateCommand {
		evaluate()
		return
	}
	process.Main(areas.RemediationProgram)
}

// evaluate limits the process before it reads what it is asked.
func evaluate() {
	answer := func(q policy.Question) policy.Reply { return rego.Evaluate(context.Background(), q) }
	if err := child.Serve(os.Stdin, os.Stdout, answer); err != nil {
		fmt.Fprintln(os.Stderr, "statecraft-remediation:", err)
		os.Exit(1)
	}
}
