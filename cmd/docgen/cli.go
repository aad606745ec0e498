package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// cliPage describes a program by its commands. Defaults are left out: some are paths of the machine.
func cliPage(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s%s\n", root.DisplayName(), generated, root.Long)
	for _, cmd := range verbs(root) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```console\n%s\n```\n", cmd.CommandPath(), cmd.Long, unindented(cmd.Example))
		b.WriteString(flagTable(cmd.LocalNonPersistentFlags(), func(*pflag.Flag) bool { return true }))
	}
	b.WriteString("\n## Flags of all commands\n")
	own := func(f *pflag.Flag) bool { return f.Name == "output" || f.Name == "system-namespace" }
	b.WriteString(flagTable(root.PersistentFlags(), own))
	b.WriteString("\nThe others are those of kubectl, and mean the same:\n")
	b.WriteString(flagTable(root.PersistentFlags(), func(f *pflag.Flag) bool { return !own(f) }))
	return b.String()
}

// verbs are the commands that do something; those that only have commands of their own are no verbs.
func verbs(of *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range of.Commands() {
		switch {
		case !cmd.IsAvailableCommand() || cmd.Name() == "help" || cmd.Name() == "completion":
		case cmd.HasSubCommands():
			all = append(all, verbs(cmd)...)
		default:
			all = append(all, cmd)
		}
	}
	return all
}

// flagTable lists flags by their names, or is empty if there are none.
func flagTable(flags *pflag.FlagSet, wanted func(*pflag.Flag) bool) string {
	var rows []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !wanted(f) || f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", name, strings.ReplaceAll(f.Usage, "|", "\\|")))
	})
	if len(rows) == 0 {
		return ""
	}
	return "\n" + table("| flag | what it does |", rows)
}

func unindented(example string) string {
	lines := strings.Split(example, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}
