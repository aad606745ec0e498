package enforce

import (
	"math"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

const (
	every = 15 * time.Second // between two samples, and two looks
	each  = 10.0             // requests a second that one replica carries
)

// window is how rates are measured: over how many samples, and the highest of how many of them.
type window struct {
	name    string
	samples int
	part    int // 0: the mean of all
}

var windows = []window{{"15 s", 1, 0}, {"60 s", 4, 0}, {"120 s", 8, 0}, {"120 s, peak", 8, 3}}

// measure is what the samples up to the last show.
func (w window) measure(samples []float64) load.Facts {
	f := load.Facts{Traffic: load.Measured, Coverage: 1, RPS: mean(samples[max(0, len(samples)-w.samples):])}
	if w.part == 0 {
		f.PeakRPS = f.RPS
		return f
	}
	var parts []float64
	for end := max(1, len(samples)-w.samples+1); end <= len(samples); end++ {
		parts = append(parts, mean(samples[max(0, end-w.part):end]))
	}
	f.PeakRPS, f.Variation = slices.Max(parts), deviation(parts)/mean(parts)
	return f
}

func mean(list []float64) (sum float64) {
	for _, x := range list {
		sum += x / float64(len(list))
	}
	return sum
}

func deviation(list []float64) float64 {
	var squares []float64
	for _, x := range list {
		squares = append(squares, (x-mean(list))*(x-mean(list)))
	}
	return math.Sqrt(mean(squares))
}

// day is what a function lived through: at the end of each interval what was asked of it, and what it had.
type day struct {
	rps      []float64 // without noise
	replicas []int32
	changes  []int // in that interval
}

// live runs a function from some replicas on under a load of which samples are seen.
func live(r rule, w window, rps, samples []float64, replicas int32) day {
	d := day{rps: rps}
	for i := range samples {
		q := capacity.Question{PerReplica: each, Load: w.measure(samples[:i+1])}
		changes := 0
		for at := time.Duration(0); ; {
			q.Replicas = replicas
			to, apply, after := r.decide(q, now.Add(time.Duration(i)*every+at))
			if apply {
				changes++
				replicas, after = to, time.Second
			}
			if at += after; after == 0 || at >= every {
				break
			}
		}
		d.replicas, d.changes = append(d.replicas, replicas), append(d.changes, changes)
	}
	return d
}

// used is the utilisation at the end of an interval.
func (d day) used(i int) float64 { return d.rps[i] / (float64(d.replicas[i]) * each) }

// until is how long after an interval the utilisation is right for the first time, or a negative number.
func (d day) until(begin, end int, right func(float64) bool) float64 {
	for i := begin; i < end; i++ {
		if right(d.used(i)) {
			return float64(i-begin+1) * every.Seconds()
		}
	}
	return -1
}

// count is how many changes there were from one interval to another.
func (d day) count(begin, end int) (n int) {
	for _, c := range d.changes[begin:end] {
		n += c
	}
	return n
}

// share is for how much of the time the utilisation is so.
func (d day) share(is func(float64) bool) float64 {
	n := 0
	for i := range d.replicas {
		if is(d.used(i)) {
			n++
		}
	}
	return float64(n) / float64(len(d.replicas))
}

// surplus is by how much there were more replicas than 70 % utilisation takes, in the mean.
func (d day) surplus() float64 {
	have, need := 0.0, 0.0
	for i, n := range d.replicas {
		have, need = have+float64(n), need+math.Ceil(d.rps[i]/(0.7*each))
	}
	return have/need - 1
}
