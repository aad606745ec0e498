// Package monitoring tries the alerts and dashboards of config with promtool and with a real Prometheus, and starts
// one for other tests.
package monitoring
