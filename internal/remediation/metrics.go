package remediation

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics of the area, besides those that every machine has.
var (
	metricUnguarded = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_remediation_unguarded", Help: "1 while an admission policy of the area is missing or is not the one that is shipped."})
	metricDeletions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_remediation_ttl_deletions_total", Help: "Executions, and decisions about executions that are gone, deleted because they ended long ago."},
		[]string{"kind"})
	metricPolicyInvalid = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_remediation_policy_invalid", Help: "1 while the policy pack does not compile, and the last one that did answers in its place."})
	metricHeld = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_remediation_held", Help: "Executions that a brake keeps from being released, by the reason that their status gives."},
		[]string{"brake"})
	metricUnrecorded = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_remediation_audit_unrecorded", Help: "Ends of executions, and decisions of persons, that the last look could not record in the audit database."})
	metricUnresolved = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "statecraft_remediation_unresolved_targets", Help: "Targets that an execution with an unknown outcome may have changed, and that no person has acknowledged."})
)

// Metrics are the collectors of the area, for registration and for docs.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{metricUnguarded, metricDeletions, metricPolicyInvalid, metricHeld, metricUnrecorded, metricUnresolved}
}

func init() { metrics.Registry.MustRegister(Metrics()...) }
