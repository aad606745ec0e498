package capture

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics of the area, besides those that every machine has. Claims are named by objectmetrics.go alone.
var (
	metricDeletions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_capture_ttl_deletions_total", Help: "Requests deleted because they ended long ago."},
		[]string{"kind"})
	metricLeaks = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_capture_leaks", Help: "Captured artifacts that no keeper owns, and keepers of requests that are gone, in the last two looks."},
		[]string{"kind", "reason"})
	metricCheckpointBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_capture_checkpoint_bytes", Help: "Bytes that all checkpoints together hold in etcd."})
	metricCheckpointBudget = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_capture_checkpoint_budget_bytes", Help: "Bytes that all checkpoints together may hold."})
	metricKeysLeft = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_capture_keys_left", Help: "Checkpoints that could not be rewrapped with the active key, in the last look: without their key they are lost."})
	metricUnguarded = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_capture_unguarded", Help: "1 while an admission policy of the area is missing or is not the one that is shipped."})
)

// Metrics are the collectors of the area, for registration and for docs.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		metricDeletions, metricLeaks, metricCheckpointBytes, metricCheckpointBudget, metricUnguarded, metricKeysLeft, metricClaims,
	}
}

func init() { metrics.Registry.MustRegister(Metrics()...) }
