package kube

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics that every machine has. Labels are few and bounded: kinds, phases and
// events are constants, and no object is named.
var (
	metricPhase = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_objects", Help: "Objects by kind and the phase that was last saved."},
		[]string{"kind", "phase"})
	metricTransitions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_transitions_total", Help: "Moves taken and saved, lanes included."},
		[]string{"kind", "from", "to", "event"})
	metricPhaseSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "statecraft_phase_seconds", Help: "Time spent in a phase before it was left.",
		Buckets: prometheus.ExponentialBuckets(0.5, 2, 16)},
		[]string{"kind", "phase"})
	metricPassSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "statecraft_pass_seconds", Help: "Duration of one pass: read, decide, act, save.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14)},
		[]string{"kind"})
	metricEffectErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_effect_errors_total", Help: "Effects that failed, by class of error."},
		[]string{"kind", "class"})
	metricRefused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_refused_moves_total", Help: "Passes refused: an unknown phase, or a move that is not declared."},
		[]string{"kind"})
	metricReentries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_reentries_total", Help: "Passes that would have entered a phase twice: a fault of the machine."},
		[]string{"kind"})
	metricBlind = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_blind_total", Help: "Objects that became Ready=Unknown because their world could not be read."},
		[]string{"kind"})
)

// Metrics are the collectors of this package, for registration and for docs.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		metricPhase, metricTransitions, metricPhaseSeconds, metricPassSeconds,
		metricEffectErrors, metricRefused, metricReentries, metricBlind,
	}
}

func init() { metrics.Registry.MustRegister(Metrics()...) }
