// Package audit says what is recorded of executions outside of the cluster: what was about to be done, what persons
// decided about it, and what it came to. Records form a chain that only holders of a key can continue, so an edit, a
// deletion and a forgery show. Package postgres keeps them.
package audit
