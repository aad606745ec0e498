package perform

import (
	"context"
	"fmt"
	"io"
	"os"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// The exit codes. A Job that succeeded is a witness that the action was done, so only that is 0.
const (
	exitApplied = iota
	exitNotApplied
	exitUnknown
	exitIncomplete
)

// Run does what the arguments ask for, reports it, and returns the exit code.
func Run(ctx context.Context, args []string, connect func(action.Target) (Object, error), log io.Writer) int {
	c, err := action.ParseArguments(args)
	report := notBegun(err)
	if err == nil {
		report = perform(ctx, c, connect)
	}
	text := report.JSON()
	fmt.Fprintf(log, "%s\n", text)
	if err := os.WriteFile(c.TerminationLog, text, 0o600); err != nil {
		// The exit code and the token on the target are left as witnesses.
		fmt.Fprintf(log, "%s: write the report: %v\n", Program, err)
	}
	return exitCode(report)
}

func perform(ctx context.Context, c action.Command, connect func(action.Target) (Object, error)) action.Report {
	object, err := connect(c.Target)
	if err != nil {
		return notBegun(err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return Perform(ctx, object, c, Usual)
}

// notBegun reports that nothing was sent.
func notBegun(err error) action.Report {
	r := action.Report{Effect: remediationv1.EffectNotApplied, Reason: action.ReasonFailed}
	if err != nil {
		r.Error = "The action was not begun: " + err.Error()
	}
	return r
}

func exitCode(r action.Report) int {
	switch {
	case r.Effect == remediationv1.EffectApplied && r.Reason != "":
		return exitIncomplete
	case r.Effect == remediationv1.EffectApplied:
		return exitApplied
	case r.Effect == remediationv1.EffectNotApplied:
		return exitNotApplied
	}
	return exitUnknown
}
