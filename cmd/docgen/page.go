package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const generated = "<!-- Written by cmd/docgen from the code itself; make generate rewrites it. -->\n\n"

// page is the reference page of one kind. Every reason that can stand in its status
// has a line, and a reason without a sentence is an error: it is what a person reads
// who must act on it.
func (m machine) page(said, kernel []constant) (string, error) {
	var rows []string
	var errs []error
	for _, c := range m.reasons(said, kernel) {
		if c.doc == "" {
			errs = append(errs, fmt.Errorf("%s: the reason %s has no doc sentence", m.Kind, c.value))
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", c.value, c.doc))
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	return "# " + m.Kind + "\n\n" + generated +
		"## Phases\n\n" + m.Drawing.Reference() +
		"\n## Reasons\n\nWhat conditions, events and the history give as the reason. [Messages](messages.md) has examples of what is said with it.\n\n" +
		table("| reason | what it says |", rows), nil
}

// reasons are in the order of their declarations, which tell a story; then come those of the table.
func (m machine) reasons(said, kernel []constant) (reasons []constant) {
	for _, c := range said {
		if c.kind == "Reason" {
			reasons = append(reasons, c)
		}
	}
	// A guard, a deadline and a failed effect give the name of their event as reason.
	events := slices.Concat(said, kernel)
	for _, reason := range m.Drawing.Reasons() {
		if find(reasons, string(reason)) == "" {
			reasons = append(reasons, constant{kind: "Reason", value: string(reason), doc: find(events, string(reason))})
		}
	}
	return reasons
}

// kernelPage lists the reasons that any kind can have.
func kernelPage(said []constant) (string, error) {
	var rows []string
	for _, c := range said {
		if c.doc == "" {
			return "", fmt.Errorf("the kernel's %s %s has no doc sentence", strings.ToLower(c.kind), c.value)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", c.value, strings.ToLower(c.kind), c.doc))
	}
	return "# Reasons and events of every kind\n\n" + generated +
		"What the kernel and the adapter themselves say, whatever the machine.\n\n" +
		table("| name | what it is | what it says |", rows), nil
}

func find(said []constant, value string) string {
	for _, c := range said {
		if c.value == value && c.doc != "" {
			return c.doc
		}
	}
	return ""
}
