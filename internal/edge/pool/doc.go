// Package pool is the life of an EdgePool: which devices of a Flight Control are announced as Nodes, and whether all that this
// cluster has put on them belongs to a pod. Nothing is removed before both sides were read completely; that Flight
// Control does not answer changes nothing; and a pool goes only when no Node, no pod and no entry of it is left.
//
// The area is not registered yet, so no program runs it. table.go becomes phases.go when it is.
package pool
