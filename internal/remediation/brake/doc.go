// Package brake decides when an execution must wait because of what other executions did: to the same target, in the same
// namespace, or in the whole cluster. It decides from the executions that exist, so that a manager that was restarted decides
// the same. Each brake opens by itself.
package brake
