package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/rego"
)

func newPolicy(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "Try the policies of area remediation",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newPolicyTest(o))
	return cmd
}

func newPolicyTest(o *options) *cobra.Command {
	var bare bool
	cmd := &cobra.Command{
		Use: "test [directory | -]", Short: "Run the tests of a policy pack", Args: cobra.MaximumNArgs(1),
		Long: "Run the tests of a policy pack: the rules that begin with test_ in modules that end in _test.rego. A directory\n" +
			"has modules (*.rego) and manifests with ConfigMaps (*.yaml), a dash reads such manifests from the standard\n" +
			"input, and both are tried together with the default pack. Without either it tests what is in force, the\n" +
			"ConfigMaps of the system namespace. A policy can call here what it can call in the cluster, and no more. The\n" +
			"exit code is 0 if all tests passed, 1 if one failed, none was found or the pack does not compile, and 2 if\n" +
			"the pack could not be read.",
		Example: "  kubectl statecraft policy test ./policies\n  kubectl statecraft policy test - <shop-policy.yaml\n  kubectl statecraft policy test --system-namespace=platform",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := o.pack(cmd, args, bare)
			if err != nil {
				return err
			}
			return o.tryPack(cmd, p)
		},
	}
	cmd.Flags().BoolVar(&bare, "without-defaults", false, "leave the default pack out")
	return cmd
}

// trial is what the tests of a pack came to.
type trial struct {
	// Error says why the pack does not compile. Such a pack denies every execution.
	Error string        `json:"error,omitempty"`
	Tests []rego.Result `json:"tests"`
}

func (o *options) tryPack(cmd *cobra.Command, p pack) error {
	var t trial
	modules := p.modules()
	_, err := rego.Compile(modules) // as in the cluster: without the tests
	if err == nil {
		t.Tests, err = rego.Test(cmd.Context(), modules)
	}
	if cmd.Context().Err() != nil {
		return cmd.Context().Err()
	}
	if err != nil {
		t.Error = err.Error()
	}
	if err := o.print(cmd, t, t.text()); err != nil {
		return err
	}
	return ended(t.passed())
}

func (t trial) passed() bool {
	for _, r := range t.Tests {
		if !r.Passed && !r.Skipped {
			return false
		}
	}
	return t.Error == "" && len(t.Tests) > 0
}

func (t trial) text() string {
	if t.Error != "" {
		return explain.Paper("The pack does not compile, and would deny every execution: " + t.Error + ".")
	}
	var b strings.Builder
	passed, module := 0, ""
	for _, r := range t.Tests {
		if r.Module != module { // together with the name of a test it would be wider than a terminal
			module = r.Module
			fmt.Fprintln(&b, explain.Visible(module))
		}
		word := "FAIL"
		switch {
		case r.Passed:
			word, passed = "ok", passed+1
		case r.Skipped:
			word = "skip"
		}
		fmt.Fprintf(&b, "  %-4s line %d: %s\n", word, r.Line, explain.Visible(r.Name))
		if r.Message != "" {
			fmt.Fprintf(&b, "       %s\n", explain.Visible(r.Message))
		}
	}
	if len(t.Tests) == 0 {
		return "There are no tests: modules with tests end in _test.rego, and their rules\nbegin with test_.\n"
	}
	fmt.Fprintf(&b, "%d of %d tests passed.\n", passed, len(t.Tests))
	return b.String()
}
