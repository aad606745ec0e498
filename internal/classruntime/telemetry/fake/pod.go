package fake

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// Pod is one that serves metrics, and what happens to it.
type Pod struct {
	Key load.Key
	// Histogram is the name of its series; empty is that of OpenTelemetry. Labels are what it gives them, besides the status.
	Histogram string
	Labels    map[string]string
	// RPS is how many requests it gets, Latency how long each takes, and Errors the share that fails. Without any request since it
	// started it has no series.
	RPS     float64
	Latency time.Duration
	Errors  float64
	Ports   int  // how many of its ports are scraped, of which the first has the series; 0 is one
	Hangs   bool // it does not answer scrapes
	Stamped bool // it says itself of when its samples are
	Stuck   bool // and repeats them
}

// bounds are those of the buckets, as OpenTelemetry recommends them.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// statusLabel is how OpenTelemetry names the status of a response.
const statusLabel = "http_response_status_code"

// counted is the histogram of one status.
type counted struct {
	count, sum float64
	buckets    []float64 // cumulative, the last without a bound
}

// Process is a pod that runs: it counts.
type Process struct {
	pod   Pod
	since time.Time
	total map[string]counted // by status
	stuck time.Time
}

// NewProcess starts a pod.
func NewProcess(p Pod, now time.Time) *Process {
	r := &Process{total: map[string]counted{}}
	r.Become(p, now)
	return r
}

// Pod is what happens to it.
func (r *Process) Pod() Pod { return r.pod }

// Become changes what happens to it; what it has counted stays.
func (r *Process) Become(p Pod, now time.Time) {
	if p.Stuck && !r.pod.Stuck {
		r.stuck = now
	}
	r.total, r.since, r.pod = r.at(now), now, p
}

// at is what it has counted.
func (r *Process) at(now time.Time) map[string]counted {
	total, seconds := maps.Clone(r.total), now.Sub(r.since).Seconds()
	for status, share := range map[string]float64{"200": 1 - r.pod.Errors, "500": r.pod.Errors} {
		if n := r.pod.RPS * share * seconds; n > 0 {
			total[status] = total[status].with(n, r.pod.Latency.Seconds())
		}
	}
	return total
}

func (c counted) with(n, seconds float64) counted {
	c.buckets = slices.Grow(slices.Clone(c.buckets), len(bounds)+1)[:len(bounds)+1]
	for i := range c.buckets {
		if i == len(bounds) || seconds <= bounds[i] {
			c.buckets[i] += n
		}
	}
	return counted{c.count + n, c.sum + n*seconds, c.buckets}
}

// sample is one line of what a pod serves.
type sample struct {
	name   string
	labels map[string]string
	value  float64
	at     time.Time // zero is when it is scraped
}

// samples are all lines.
func (r *Process) samples(now time.Time) (list []sample) {
	var at time.Time
	if r.pod.Stamped {
		if r.pod.Stuck {
			now = r.stuck
		}
		at = now
	}
	name, total := cmp.Or(r.pod.Histogram, load.OTelHTTP().Histogram), r.at(now)
	for _, status := range slices.Sorted(maps.Keys(total)) {
		add := func(suffix string, value float64, more ...string) {
			labels := map[string]string{statusLabel: status}
			maps.Copy(labels, r.pod.Labels)
			if len(more) > 0 {
				labels["le"] = more[0]
			}
			list = append(list, sample{name + suffix, labels, value, at})
		}
		c := total[status]
		add("_count", c.count)
		add("_sum", c.sum)
		for i, n := range c.buckets {
			bound := "+Inf"
			if i < len(bounds) {
				bound = strconv.FormatFloat(bounds[i], 'g', -1, 64)
			}
			add("_bucket", n, bound)
		}
	}
	return list
}

// Text is what it serves, in the format of Prometheus.
func (r *Process) Text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# TYPE %s histogram\n", cmp.Or(r.pod.Histogram, load.OTelHTTP().Histogram))
	for _, s := range r.samples(now) {
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(s.labels)) {
			labels = append(labels, name+"="+strconv.Quote(s.labels[name]))
		}
		fmt.Fprintf(&b, "%s{%s} %g", s.name, strings.Join(labels, ","), s.value)
		if !s.at.IsZero() {
			fmt.Fprintf(&b, " %d", s.at.UnixMilli())
		}
		b.WriteString("\n")
	}
	return b.String()
}
