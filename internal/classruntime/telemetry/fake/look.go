package fake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
)

// Look implements telemetry.Source. A frozen source does not wait for the end of the time that it is given.
func (s *Source) Look(_ context.Context, subjects []telemetry.Subject) (map[load.Key]telemetry.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	if s.state != Answers {
		return nil, fmt.Errorf("%w: it %s", telemetry.ErrUnavailable, s.state)
	}
	answers := map[load.Key]telemetry.Answer{}
	for _, one := range subjects {
		facts, err := s.facts(one)
		answers[one.Key] = telemetry.Answer{Facts: facts, Err: err}
	}
	return answers, nil
}

// facts are those of one function.
func (s *Source) facts(of telemetry.Subject) (load.Facts, error) {
	if err := telemetry.Check(of); err != nil {
		return load.Facts{}, err
	}
	q, err := s.compile(of)
	if err != nil {
		return load.Facts{}, fmt.Errorf("%w: %w", telemetry.ErrQueryInvalid, err)
	}
	f := load.Facts{Window: s.window, Interval: s.interval}
	scraped := s.scraped(of.Key, &f)
	rps, measured := s.rate(q.count, q.now, s.window)
	oldest, has := s.oldest(q.count)
	switch {
	case measured && has:
		f.Traffic, f.SampledAt, f.RPS = load.Measured, oldest, rps
		q.requests(&f)
	case f.Pods > 0:
		f.Traffic, f.SampledAt = load.Silent, scraped
		if has && oldest.Before(scraped) {
			f.SampledAt = oldest
		}
	}
	return f, nil
}

// query is what is asked of one function.
type query struct {
	*Source
	now                         time.Time
	count, failed, sum, buckets selector
	quantile                    float64
	hasFailures                 bool
}

func (s *Source) compile(of telemetry.Subject) (q query, err error) {
	name, c := of.Contract.Histogram, of.Contract
	q = query{Source: s, now: s.now(), quantile: float64(of.Percentile) / 100, hasFailures: len(c.Errors) > 0}
	var errs [4]error
	q.count, errs[0] = compile(name+"_count", of.Key, c.Matchers)
	q.sum, errs[1] = compile(name+"_sum", of.Key, c.Matchers)
	q.buckets, errs[2] = compile(name+"_bucket", of.Key, c.Matchers)
	q.failed, errs[3] = compile(name+"_count", of.Key, c.Matchers, c.Errors)
	return q, errors.Join(errs[:]...)
}

// requests fills in what is said of requests.
func (q query) requests(f *load.Facts) {
	f.PeakRPS, f.Variation = q.parts()
	f.PeakRPS = max(f.RPS, f.PeakRPS)
	f.Concurrency, _ = q.rate(q.sum, q.now, q.window)
	f.Latency = time.Duration(q.percentile() * float64(time.Second))
	if failures, _ := q.rate(q.failed, q.now, q.window); q.hasFailures && f.RPS > 0 {
		f.ErrorRatio = min(1, failures/f.RPS)
	}
}

// scraped fills in what is known of the pods, and says when the one was scraped that waits longest.
func (s *Source) scraped(key load.Key, f *load.Facts) (at time.Time) {
	up := selector{name: "up", key: key}
	expected, fresh := s.window.Seconds()/s.interval.Seconds(), map[string]bool{}
	for _, one := range s.series {
		if !up.chooses(one) {
			continue
		}
		seen := 0.0
		for _, p := range one.over(s.now(), s.window) {
			seen += p.value
		}
		coverage := min(1, seen/expected)
		f.Coverage = max(f.Coverage, coverage)
		last, is := one.last(s.now())
		if !is || last.value != 1 {
			continue
		}
		if at.IsZero() || coverage < f.LeastCoverage {
			f.LeastCoverage = coverage
		}
		if at.IsZero() || last.at.Before(at) {
			at = last.at
		}
		if s.now().Sub(last.at) <= load.FreshWithin*s.interval {
			fresh[one.labels[load.PodLabel]] = true
		}
	}
	f.Pods = int32(len(fresh)) //nolint:gosec // a count
	return at
}
