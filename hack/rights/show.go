package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/statecraft-dev/statecraft/hack/rights/ledger"
)

// show prints, account by account, how often each right was used, and why those are granted that were not.
func show(out io.Writer, l *ledger.Ledger, because ledger.Reasons) {
	for _, a := range l.Accounts() {
		fmt.Fprintf(out, "%s: %d rights granted, %d used, %d not used\n", a.Name, len(a.Granted), len(a.Used), len(a.Unused))
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, line := range byTarget(a) {
			fmt.Fprintln(table, line)
		}
		_ = table.Flush() // of standard output
		for _, line := range byReason(a.Unused, because) {
			fmt.Fprintln(out, line)
		}
		fmt.Fprintln(out)
	}
	counts(out, "allowed by roles that are not ours", l.Others())
	counts(out, "refused", l.Refused())
}

// byTarget is a line for each role and resource, with the number of uses of each verb.
func byTarget(a ledger.Account) (lines []string) {
	var last ledger.Right
	for i, right := range a.Granted {
		if i == 0 || right.Role != last.Role {
			lines = append(lines, "  "+right.Role.String())
		}
		verb := fmt.Sprintf("%s %d", right.Verb, a.Used[right])
		if i > 0 && right.Role == last.Role && right.Target() == last.Target() {
			lines[len(lines)-1] += ", " + verb
		} else {
			lines = append(lines, "    "+right.Target()+"\t"+verb)
		}
		last = right
	}
	return lines
}

// byReason is a line for each right that was not used, and one for each reason.
func byReason(unused []ledger.Right, because ledger.Reasons) (lines []string) {
	for i, right := range unused {
		lines = append(lines, fmt.Sprintf("  not used: %s of %s", right, right.Role))
		if why := because.For(right); i+1 == len(unused) || why != because.For(unused[i+1]) {
			lines = append(lines, "    "+cmp.Or(why, "NO REASON"))
		}
	}
	return lines
}

func counts(out io.Writer, what string, by map[string]map[string]int) {
	for _, account := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(out, "%s: %s\n", account, what)
		for _, right := range slices.Sorted(maps.Keys(by[account])) {
			fmt.Fprintf(out, "  %s: %d\n", right, by[account][right])
		}
		fmt.Fprintln(out)
	}
}

// verdict says what is to be done about roles and reasons, and returns an error if that cannot wait.
func verdict(out io.Writer, j ledger.Judgement) error {
	for _, right := range j.Refuted {
		fmt.Fprintf(out, "refuted: %s of %s is used; its reason can go from reasons.yaml\n", right, right.Role)
	}
	var errs []error
	for _, right := range j.Unexplained {
		errs = append(errs, fmt.Errorf("%s of %s is not used: take it from the role, or add the reason to reasons.yaml", right, right.Role))
	}
	for _, key := range j.NotGranted {
		role, right, _ := strings.Cut(key, " ")
		errs = append(errs, fmt.Errorf("%s does not grant %s: take the reason from reasons.yaml", role, right))
	}
	return errors.Join(errs...)
}
