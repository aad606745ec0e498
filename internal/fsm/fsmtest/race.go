//go:build race

package fsmtest

// The race detector makes every world six times as dear, and machines start no
// goroutines: a part of the worlds shows as much.
const thrift = 4
