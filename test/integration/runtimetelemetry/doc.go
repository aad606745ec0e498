// Package runtimetelemetry runs the scripts of port telemetry on a real Prometheus, which scrapes pods that a server of
// the test plays.
package runtimetelemetry
