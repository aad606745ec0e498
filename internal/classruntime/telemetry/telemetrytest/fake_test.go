package telemetrytest

import "testing"

// TestScripts runs the scripts on the fake. test/integration/runtimetelemetry runs them on a real Prometheus.
func TestScripts(t *testing.T) { Run(t, "testdata", Fake) }
