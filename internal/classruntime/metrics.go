package classruntime

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Series of each function of which something is recommended.
var (
	descRecommended = functionDesc("recommendation", "What a function needs, as the status of its class has it.", "dimension")
	descStale       = functionDesc("stale", "Whether that may be out of date, because it could not be computed anew: 0 or 1.", "dimension")
	descSampleAge   = functionDesc("sample_age_seconds", "How old the samples of a function are, as of the last look at its source.")

	metricFunctions = kube.NewObjectCollector(descRecommended, descStale, descSampleAge)
)

func functionDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("statecraft_runtime_nfr_"+name, help, append([]string{"namespace", "name", "function"}, labels...), nil)
}

// Metrics are the collectors of the area, for registration and for docs.
func Metrics() []prometheus.Collector { return []prometheus.Collector{metricFunctions} }

func init() { metrics.Registry.MustRegister(Metrics()...) }

// functionSeries makes the series of functions.
type functionSeries struct {
	looks *Looks
	now   func() time.Time
}

// collectFunctions serves the series of the classes that the area caches.
func collectFunctions(a *kube.Area, s functionSeries) error {
	return kube.Collect(a, metricFunctions, kube.Objects[*runtimev1.ClassRuntime]{
		Kind: class.Machine.Kind,
		List: func(ctx context.Context) (list []*runtimev1.ClassRuntime, err error) {
			err = a.Env.EachCached(ctx, &runtimev1.ClassRuntime{}, func(obj client.Object) {
				if c, is := obj.(*runtimev1.ClassRuntime); is {
					list = append(list, c)
				}
			})
			return list, err
		},
		Series: s.of,
	})
}

// of are the series of one class: what its status says, and how old the samples of the last look are by now.
func (s functionSeries) of(c *runtimev1.ClassRuntime) (all []prometheus.Metric) {
	add := func(desc *prometheus.Desc, value float64, labels ...string) {
		all = append(all, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{c.Namespace, c.Name}, labels...)...))
	}
	for _, r := range c.Status.NFRRecommendations {
		if r.Value == nil {
			continue
		}
		add(descRecommended, float64(*r.Value), r.Function, string(r.Dimension))
		stale := 0.0
		if r.Stale {
			stale = 1
		}
		add(descStale, stale, r.Function, string(r.Dimension))
	}
	seen := s.looks.Last(read.Key{Name: spec.SourceOf(c)}).Value
	for _, f := range c.Spec.Functions {
		m := seen[load.Key{Namespace: c.Namespace, Class: c.Name, Function: f.Key}]
		if m.Facts.Known() {
			add(descSampleAge, s.now().Sub(m.Facts.SampledAt).Seconds(), f.Key)
		}
	}
	return all
}
