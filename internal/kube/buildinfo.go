package kube

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/statecraft-dev/statecraft/internal/version"
)

var metricBuildInfo = newBuildInfo()

// newBuildInfo has one series, so that a dashboard can show which versions run side by side.
func newBuildInfo() *prometheus.GaugeVec {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_build_info", Help: "Always 1; the labels say which build of the program runs."},
		[]string{"version", "commit", "goversion"})
	info.WithLabelValues(version.Version(), version.Commit(), runtime.Version()).Set(1)
	return info
}
