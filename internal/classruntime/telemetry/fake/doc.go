// Package fake is a source of measurements without a Prometheus: a small one of its own. Scripted pods are scraped by the clock that
// it is given, samples are kept as series, and figures are computed from them as Prometheus does. So a gap, a young pod and a
// restart show as they do there. Package telemetrytest compares the two.
package fake
