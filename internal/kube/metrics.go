package kube

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Metrics that every machine has. Labels are few and bounded: kinds, phases and
// events are constants. Objects are named by the series of objectmetrics.go alone.
var (
	metricPhase = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_objects", Help: "Objects by kind, the phase that was last saved, and its class."},
		[]string{"kind", "phase", "class"})
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
	metricLookErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "statecraft_look_errors_total", Help: "Regular looks through the cluster that failed in part, by what they look for."},
		[]string{"look"})
	metricUnknown = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_objects_unknown", Help: "Objects whose condition Ready is Unknown: what they depend on cannot be seen, or the manager refuses to act upon them."},
		[]string{"kind"})
	metricUnavailable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "statecraft_objects_unavailable", Help: "Objects whose condition Available is False: they do not do for others what they are for."},
		[]string{"kind"})
)

// Metrics are the collectors of this package, for registration and for docs.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		metricPhase, metricTransitions, metricPhaseSeconds, metricPassSeconds,
		metricEffectErrors, metricRefused, metricReentries, metricUnknown, metricUnavailable, metricLookErrors,
		metricBuildInfo, metricLeading, metricObjects, metricSeriesOff,
	}
}

// initCounters lets the counters of a machine begin at 0. A counter that is first seen at 1 has not increased, so an alert
// on the increase would miss the first failure after every start.
func initCounters[T Object[T], W any](m *fsm.Machine[T, W]) {
	edges := m.Edges()
	if m.Lanes != nil {
		edges = append(edges, m.Lanes.Edges()...)
	}
	for _, e := range edges {
		metricTransitions.WithLabelValues(m.Kind, string(e.From), string(e.To), string(e.On))
	}
	if m.OneShot { // one that has lost its status may end at once
		for phase, rule := range m.Phases {
			if rule.Class == fsm.Failed {
				metricTransitions.WithLabelValues(m.Kind, "", string(phase), string(fsm.Lost))
			}
		}
	}
	metricRefused.WithLabelValues(m.Kind)
	metricReentries.WithLabelValues(m.Kind)
	metricUnknown.WithLabelValues(m.Kind)
	metricUnavailable.WithLabelValues(m.Kind)
}

func init() { metrics.Registry.MustRegister(Metrics()...) }
