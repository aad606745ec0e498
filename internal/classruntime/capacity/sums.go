package capacity

import (
	"math"
)

const (
	// target is the utilisation above which replicas are added, and relaxed the one below which they are taken away. Between the
	// two nothing is done, or a load at the edge would add and remove a replica in turns. Replicas are added until a load
	// is at aim, in the middle: at target every bit of noise would add one more.
	target  = 0.7
	aim     = 0.65
	relaxed = 0.6
	// busy is the utilisation from which latency is taken to come from load.
	busy = 0.56
	// steepest is the most by which latency multiplies replicas at a time.
	steepest = 2.0
	// Most is where every sum ends.
	Most = 1000
	// DefaultPodAvailability is the share of time in which one pod is there.
	DefaultPodAvailability = 0.995
	// dust is less than any figure means: 70 divided by 0.7 is a little more than 100.
	dust = 1e-9
)

// Utilisation is the share of what the replicas carry that is used; it is unknown without replicas or capacity.
func Utilisation(rps, perReplica float64, replicas int32) (u float64, known bool) {
	if perReplica <= 0 || replicas <= 0 || !finite(rps) {
		return 0, false
	}
	return rps / (float64(replicas) * perReplica), true
}

// Carrying is the least number of replicas that carries a demand with nothing to spare.
func Carrying(rps, perReplica float64) int32 { return ceil(rps / perReplica) }

// Spare is how many of the wanted replicas may be away at a time. The others carry the demand, but one may always go: a budget
// that lets none go blocks every drain. Below two replicas there is no budget.
func Spare(wanted, carrying int32) (spare int32, has bool) {
	return max(1, wanted-carrying), wanted >= 2
}

// Available is the least number of replicas of which enough are there for the required share of time, each being there for
// its own share, and independently.
func Available(enough int32, required, each float64) int32 {
	for n := max(enough, 1); n < Most; n++ {
		if thereAtLeast(n, enough, each) >= required-dust*(1-required) {
			return n
		}
	}
	return Most
}

// thereAtLeast is the probability that of n replicas enough are there: the upper end of a binomial distribution, summed by
// how many are missing.
func thereAtLeast(n, enough int32, each float64) (sum float64) {
	term := math.Pow(each, float64(n))
	for missing := int32(0); missing <= n-enough; missing++ {
		sum += term
		term *= float64(n-missing) / float64(missing+1) * (1 - each) / each
	}
	return sum
}

// ceil is the next whole number of replicas.
func ceil(x float64) int32 {
	if !finite(x) || x >= Most {
		return Most
	}
	return int32(max(0, math.Ceil(x-dust)))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
