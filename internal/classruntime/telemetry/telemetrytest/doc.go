// Package telemetrytest runs scripts on a source of measurements, be it a real Prometheus or the fake: what a script
// awaits must come about on both, or the fake is wrong.
package telemetrytest
