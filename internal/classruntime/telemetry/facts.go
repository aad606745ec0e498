package telemetry

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// answer is what the results come to for one function.
func (c *Client) answer(s *set, scraped *results, key load.Key, began time.Time) Answer {
	if s.results.err != nil {
		return Answer{Err: classify(s.results.err)}
	}
	f := load.Facts{
		Pods:       int32(scraped.number(pods, key)), //nolint:gosec // a count
		Window:     c.pace.window,
		Interval:   c.pace.interval,
		Incomplete: scraped.warned || s.results.warned,
	}
	expected := c.pace.window.Seconds() / c.pace.interval.Seconds()
	f.Coverage = min(1, scraped.number(most, key)/expected)
	f.LeastCoverage = min(1, scraped.number(least, key)/expected)

	_, measured := s.results.vectors[rps][key]
	at, has := s.results.sampledAt(sampled, key, began)
	lookedAt, is := scraped.sampledAt(scrapedAt, key, began)
	switch {
	case measured && has:
		f.Traffic, f.SampledAt = load.Measured, at
		s.results.requests(&f, key, s.keys[key])
	case is && f.Pods > 0:
		f.Traffic, f.SampledAt = load.Silent, lookedAt
		if has && at.Before(f.SampledAt) {
			f.SampledAt = at // the series is there, and too old to have a rate
		}
	}
	return Answer{Facts: f}
}

// requests fills in what is said of requests. Failures without a series are none: requests have one.
func (r *results) requests(f *load.Facts, key load.Key, percentile int32) {
	f.RPS = r.number(rps, key)
	f.PeakRPS = max(f.RPS, r.number(peak, key))
	f.Variation = r.number(variation, key)
	f.Concurrency = r.number(busy, key)
	f.Latency = time.Duration(min(r.number(latency(percentile), key), time.Hour.Seconds()) * float64(time.Second))
	if f.RPS > 0 {
		f.ErrorRatio = min(1, r.number(failures, key)/f.RPS)
	}
}

// number is a figure, or 0 where there is none.
func (r *results) number(of figure, key load.Key) float64 { return max(0, r.vectors[of][key].number) }

// sampledAt is a time that the source tells, by our clock: its age is what the source says it is, and it is as old when the
// source was asked.
func (r *results) sampledAt(of figure, key load.Key, began time.Time) (at time.Time, is bool) {
	v, is := r.vectors[of][key]
	age := v.at.Sub(time.UnixMilli(int64(v.number * 1000)))
	return began.Add(-max(0, age)), is
}
