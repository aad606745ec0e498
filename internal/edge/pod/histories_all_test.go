//go:build !race

package pod

// histories is how many are tried.
const histories = 1000
