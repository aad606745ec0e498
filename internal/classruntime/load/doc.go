// Package load is what was measured of functions: the vocabulary of port telemetry, and of
// what is computed from it. It is pure.
package load
