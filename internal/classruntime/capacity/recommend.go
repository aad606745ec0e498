package capacity

import (
	"cmp"
	"math"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// Recommend says how many replicas a function needs.
func Recommend(q Question) Recommendation {
	q.PodAvailability = cmp.Or(q.PodAvailability, DefaultPodAvailability)
	required := q.require()
	if q.Governed {
		return required
	}
	r := q.follow()
	switch {
	case required.Replicas >= max(r.Replicas, q.Replicas):
		required.Note = r.Note
		return required // also where nothing was measured
	case required.Replicas > r.Replicas:
		r.Replicas, r.Basis = required.Replicas, required.Basis // no fewer are taken away
	}
	return r
}

// require is the answer that holds whatever the load is.
func (q Question) require() Recommendation {
	n, basis := q.size(q.MinRPS, target)
	if basis == Throughput {
		basis = Requirement
	}
	return Recommendation{Replicas: n, Basis: basis, Confidence: 100}
}

// follow is the answer by the load.
func (q Question) follow() Recommendation {
	r := Recommendation{Measured: true, Replicas: q.Replicas, Basis: Throughput}
	switch {
	case q.PerReplica <= 0:
		r.Note = CapacityUnknown // what is applied may be needed
		return r
	case !q.Load.Known() || !finite(q.Load.RPS) || !finite(q.Load.PeakRPS):
		r.Note = LoadUnknown
		return r
	}
	demand := max(q.Load.PeakRPS, q.Load.RPS)
	if n, _ := q.size(demand, target); n > q.Replicas {
		r.Replicas, r.Basis = q.size(demand, aim)
	} else if n, basis := q.size(demand, relaxed); n < q.Replicas {
		r.Replicas, r.Basis = n, basis
	}
	r = q.heedLatency(r)
	r.Confidence = confidence(q.Load, r.Replicas > q.Replicas)
	return r
}

// size is how many replicas carry a demand at that utilisation, and are there for the required share of time.
func (q Question) size(demand, utilisation float64) (n int32, basis Basis) {
	enough := int32(1) // an availability is required of something
	basis = Throughput
	if q.PerReplica > 0 {
		n = ceil(demand / (utilisation * q.PerReplica))
		enough = max(1, Carrying(demand*target/utilisation, q.PerReplica))
	}
	if q.Availability > 0 {
		if a := Available(enough, q.Availability, q.PodAvailability); a > n {
			return a, Availability
		}
	}
	return n, basis
}

// heedLatency adds replicas where latency comes from load. One that is low is no reason to take any away, and while it is
// too high none is: fewer replicas are busier, so the two would take turns.
func (q Question) heedLatency(r Recommendation) Recommendation {
	if q.MaxLatency <= 0 || q.Load.Latency <= q.MaxLatency {
		return r
	}
	u, known := Utilisation(q.Load.RPS, q.PerReplica, q.Replicas)
	if !known || u < busy {
		r.Note = LatencyNotLoadBound
		r.Replicas = max(r.Replicas, q.Replicas)
		return r
	}
	by := min(q.Load.Latency.Seconds()/q.MaxLatency.Seconds(), steepest)
	if n := ceil(float64(q.Replicas) * by); n > r.Replicas {
		r.Replicas, r.Basis = n, Latency
	}
	return r
}

// confidence is lower the fewer samples were seen. What one replica carries is declared, and as good as that. A load that varies is a
// reason not to take replicas away; it is none not to add them, because the load varies most while it rises fastest.
func confidence(f load.Facts, growing bool) int32 {
	varies := f.Variation
	if growing {
		varies = 0
	}
	if !finite(f.Coverage) || !finite(varies) || varies < 0 {
		return 0
	}
	return int32(math.Round(100 * min(1, max(0, f.Coverage)) / (1 + varies)))
}
