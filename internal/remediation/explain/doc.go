// Package explain says in words what an execution would do, what is known of what it did, and what a person can decide
// about it. It is pure: objects as they were read go in, sections of a report come out.
package explain
