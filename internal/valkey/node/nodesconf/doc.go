// Package nodesconf reads the file in which a server of a cluster keeps what it knows
// of itself and of the others, and mends the one mistake in it that older servers
// make. It is pure.
package nodesconf
