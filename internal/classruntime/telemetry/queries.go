package telemetry

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// figure is one number of a function.
type figure string

// latency is the figure of a percentile.
func latency(percentile int32) figure { return figure(fmt.Sprintf("latency %d", percentile)) }

// The figures of a contract, and those of the scraped pods.
const (
	rps       figure = "rps"
	peak      figure = "peak"
	variation figure = "variation"
	busy      figure = "concurrency"
	failures  figure = "failures"
	sampled   figure = "sampled"

	pods      figure = "pods"
	most      figure = "most samples"
	least     figure = "fewest samples"
	scrapedAt figure = "scraped"
)

// byFunction groups series as functions are named.
var byFunction = strings.Join([]string{load.NamespaceLabel, load.ClassLabel, load.FunctionLabel}, ", ")

// pace is over which time is measured, and how often is sampled.
type pace struct{ window, interval time.Duration }

// part is the part of the window over which the highest rate is taken: two samples at least, even if one is missing.
func (p pace) part() time.Duration { return min(p.window, max(p.window/4, 3*p.interval)) }

// ofContract are the queries about series of a contract in some namespaces.
func (p pace) ofContract(c load.Contract, namespaces []string, percentiles ...int32) map[figure]string {
	chosen := append(ofFunctions(namespaces), matchers(c.Matchers)...)
	series := func(suffix string, more ...string) string {
		return fmt.Sprintf("%s%s{%s}", c.Histogram, suffix, strings.Join(append(slices.Clone(chosen), more...), ","))
	}
	rate := func(series string, over time.Duration) string {
		return fmt.Sprintf("rate(%s[%s])", series, model.Duration(over))
	}
	sum := func(of string) string { return fmt.Sprintf("sum by (%s) (%s)", byFunction, of) }
	parts := fmt.Sprintf("(%s)[%s:%s]", sum(rate(series("_count"), p.part())), model.Duration(p.window), model.Duration(p.interval))
	queries := map[figure]string{
		rps:       sum(rate(series("_count"), p.window)),
		peak:      fmt.Sprintf("max_over_time(%s)", parts),
		variation: fmt.Sprintf("stddev_over_time(%s) / avg_over_time(%s)", parts, parts),
		busy:      sum(rate(series("_sum"), p.window)),
		sampled:   fmt.Sprintf("min by (%s) (timestamp(%s))", byFunction, series("_count")),
	}
	for _, n := range percentiles {
		queries[latency(n)] = fmt.Sprintf("histogram_quantile(0.%02d, sum by (%s, le) (%s))", n, byFunction, rate(series("_bucket"), p.window))
	}
	if len(c.Errors) > 0 {
		queries[failures] = sum(rate(series("_count", matchers(c.Errors)...), p.window))
	}
	return queries
}

// ofPods are the queries about scraped pods in some namespaces. The time of an answer is always new, so the
// age of samples must be asked for.
func (p pace) ofPods(namespaces []string) map[figure]string {
	up := fmt.Sprintf("up{%s}", strings.Join(ofFunctions(namespaces), ","))
	by := func(how, of string) string { return fmt.Sprintf("%s by (%s) (%s)", how, byFunction, of) }
	window := model.Duration(p.window)
	return map[figure]string{
		pods:      by("count", fmt.Sprintf("count by (%s, %s) (%s == 1 and time() - timestamp(%s) <= %g)", byFunction, load.PodLabel, up, up, (load.FreshWithin*p.interval).Seconds())),
		most:      by("max", fmt.Sprintf("sum_over_time(%s[%s])", up, window)),
		least:     by("min", fmt.Sprintf("sum_over_time(%s[%s]) and %s == 1", up, window, up)),
		scrapedAt: by("min", fmt.Sprintf("timestamp(%s) and %s == 1", up, up)),
	}
}

// ofFunctions choose what belongs to functions of some namespaces. They come first, and nothing that a user writes can take
// them back: matchers of one selector all have to hold.
func ofFunctions(namespaces []string) []string {
	literal := make([]string, len(namespaces))
	for i, n := range namespaces {
		literal[i] = regexp.QuoteMeta(n)
	}
	return matchers([]load.Matcher{
		{Label: load.NamespaceLabel, Op: load.Match, Value: strings.Join(literal, "|")},
		{Label: load.ClassLabel, Op: load.NotEqual},
		{Label: load.FunctionLabel, Op: load.NotEqual},
	})
}

// matchers prints matchers. A value is quoted, so that whatever is in it is a value; names were checked.
func matchers(list []load.Matcher) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.Label + string(m.Op) + strconv.Quote(m.Value)
	}
	return out
}
