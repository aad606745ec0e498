package load

import "math"

// step is by how much a figure must change to be another one: 2 %.
const step = 1.02

// Alike says that two looks lead to the same decision, but for their time. Figures are compared by the cell of a fixed
// grid that they are in: if each was compared with the one before it, a slow growth would never be seen.
func Alike(a, b Facts) bool { return a.rounded() == b.rounded() }

type rounded struct {
	traffic                    Traffic
	rps, peak, latency, varies int
	pods                       int32
	covered, complete, partial bool
}

func (f Facts) rounded() rounded {
	return rounded{
		f.Traffic, cell(f.RPS), cell(f.PeakRPS), cell(f.Latency.Seconds()), int(10 * f.Variation), f.Pods,
		f.Coverage >= enough, f.LeastCoverage >= enough, f.Incomplete,
	}
}

// cell numbers the places of a figure on the grid.
func cell(x float64) int {
	if x <= 0 {
		return math.MinInt
	}
	return int(math.Floor(math.Log(x) / math.Log(step)))
}
