// Package pool is the life of an EdgePool: which devices of a Flight Control are announced as Nodes, and whether all that this
// cluster has put on them belongs to a pod. Nothing is removed before both sides were read completely; that Flight
// Control does not answer changes nothing; and a pool goes only when no Node, no pod and no entry of it is left.
//
// Nothing is wired to it yet. Its object is a plain struct, in edgepool.go, because a folder of the API must belong to a registered area:
// it moves to api/edge/v1alpha1, and table.go becomes phases.go, when the area is registered.
package pool
