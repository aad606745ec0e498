package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
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
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", m[1], typeOf(c), labels, m[2]))
		}
	}
	slices.Sort(rows)
	return "# Metrics\n\n" + generated +
		"Served by the manager. Labels are bounded: kinds, phases and events are constants, and no object is named.\n\n" +
		table("| metric | type | labels | what it tells |", rows)
}

// typeOf is the type of a metric as its exposition names it.
func typeOf(c prometheus.Collector) string {
	switch c.(type) {
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
