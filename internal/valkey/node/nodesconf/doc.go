// Package nodesconf reads the file in which a server of a cluster keeps what it knows
// of itself and of the others, mends the one mistake in it that older servers make,
// and writes down what a server could not hear any more. It is pure.
package nodesconf
