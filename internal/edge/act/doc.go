// Package act does what the machines of the area decide: it edits devices through Flight Control, and writes Nodes, Leases and the last
// of a pod.
package act
