// Package rego compiles policy packs and answers questions with them, by Open Policy Agent.
//
// A pack can burn any amount of time and memory, so the manager never runs this package itself: a
// child process does, with limits that the operating system enforces (package child).
//
// The package statecraft.remediation of a pack decides about executions by the rules allow,
// require_approval, require_dry_run and reasons. The rules of the package statecraft.conditions
// are the conditions that executions can name; each reads its parameters from input.condition.
package rego
