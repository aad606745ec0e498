//go:build race

package pod

// histories is how many are tried: the race detector makes each ten times slower, and has nothing to find in what runs alone.
const histories = 60
