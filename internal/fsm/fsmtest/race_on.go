//go:build race

package fsmtest

// sparse is which part of the faults and worlds of a large machine is tried: one in so
// many.
const sparse = 24
