package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/statecraft-dev/statecraft/internal/kube"
)

// description takes apart what a metric says of itself: the library has no getters.
var description = regexp.MustCompile(`^Desc\{fqName: "(.*?)", help: "(.*?)", (?:unit: ".*?", )?constLabels: \{.*\}, variableLabels: \{(.*)\}\}$`)

func metricsPage(collectors []prometheus.Collector) string {
	var rows []string
	for _, c := range collectors {
		descs := make(chan *prometheus.Desc)
		go func() {
			c.Describe(descs)
			close(descs)
		}()
		for d := range descs {
			m := description.FindStringSubmatch(d.String())
			if m == nil {
				panic("a metric describes itself in a new way: " + d.String())
			}
			labels := strings.ReplaceAll(m[3], ",", ", ")
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", m[1], typeOf(c, m[1]), labels, m[2]))
		}
	}
	slices.Sort(rows)
	return "# Metrics\n\n" + generated +
		"Served by the manager. Kinds, phases and events are constants. Series that name an object, or a claim, are served by the leader alone, " +
		"and only while a kind has no more objects than `--metrics-objects`: an object has at most 5 of them, a ValkeyCluster 10 more, " +
		"one that is gone has none, neither has a request that succeeded, nor its keeper while that is ready.\n\n" +
		table("| metric | type | labels | what it tells |", rows)
}

// typeOf is the type of a metric as its exposition names it.
func typeOf(c prometheus.Collector, name string) string {
	switch c.(type) {
	case *kube.ObjectCollector:
		if strings.HasSuffix(name, "_total") {
			return "counter"
		}
	case prometheus.Gauge: // which can do all that a counter can
		return "gauge"
	case *prometheus.CounterVec, prometheus.Counter:
		return "counter"
	case *prometheus.HistogramVec, prometheus.Histogram:
		return "histogram"
	case *prometheus.SummaryVec:
		return "summary"
	}
	return "gauge"
}
