package fake

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// rate is the sum of the rates of all chosen series.
func (s *Source) rate(of selector, at time.Time, window time.Duration) (sum float64, is bool) {
	for _, one := range s.series {
		if of.chooses(one) {
			if r, has := rate(one.over(at, window), at, window); has {
				sum, is = sum+r, true
			}
		}
	}
	return sum, is
}

// oldest is the oldest of the newest samples of all chosen series.
func (s *Source) oldest(of selector) (at time.Time, is bool) {
	for _, one := range s.series {
		if p, has := one.last(s.now()); has && of.chooses(one) && (!is || p.at.Before(at)) {
			at, is = p.at, true
		}
	}
	return at, is
}

// parts are the highest rate over a part of the window, and how much these rates differ.
func (q query) parts() (peak, variation float64) {
	part := min(q.window, max(q.window/4, 3*q.interval))
	var rates []float64
	for at := q.now.Truncate(q.interval); at.After(q.now.Add(-q.window)); at = at.Add(-q.interval) {
		if r, is := q.rate(q.count, at, part); is {
			rates = append(rates, r)
		}
	}
	if len(rates) == 0 {
		return 0, 0
	}
	mean, squares := 0.0, 0.0
	for _, r := range rates {
		mean += r / float64(len(rates))
	}
	for _, r := range rates {
		squares += (r - mean) * (r - mean) / float64(len(rates))
	}
	if mean > 0 {
		variation = math.Sqrt(squares) / mean
	}
	return slices.Max(rates), variation
}

// percentile is where the quantile is in its bucket, if requests are spread evenly over it. Without requests it is 0.
func (q query) percentile() float64 {
	byBound := map[float64]float64{}
	for _, one := range q.series {
		if !q.buckets.chooses(one) {
			continue
		}
		bound, err := strconv.ParseFloat(one.labels["le"], 64)
		if r, has := rate(one.over(q.now, q.window), q.now, q.window); has && err == nil {
			byBound[bound] += r
		}
	}
	all := byBound[math.Inf(1)]
	if all == 0 {
		return 0
	}
	rank, below, from := q.quantile*all, 0.0, 0.0
	for _, bound := range bounds {
		if n := byBound[bound]; n >= rank {
			return from + (bound-from)*(rank-below)/(n-below)
		}
		below, from = byBound[bound], bound
	}
	return from // above the highest bound
}
