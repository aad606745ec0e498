package load

import "time"

// Key names one function.
type Key struct{ Namespace, Class, Function string }

func (k Key) String() string { return k.Namespace + "/" + k.Class + "/" + k.Function }

// Traffic says what is known of the requests to a function.
type Traffic string

// What may be known.
const (
	// Unknown: no pod is scraped, and there is no series. That is not the same as no requests.
	Unknown Traffic = ""
	// Silent: pods are scraped, and none has the series. They had no request since they started, or the contract names
	// a series that does not exist: the two look the same, so nothing may be taken away because of it.
	Silent Traffic = "Silent"
	// Measured: there are series, with requests or without.
	Measured Traffic = "Measured"
)

// Facts are what a source says of one function over its window.
type Facts struct {
	Traffic Traffic `json:"traffic,omitempty"`
	// RPS is the mean rate of requests over the window, PeakRPS the highest over a part of it, and Variation the
	// deviation of these parts divided by their mean.
	RPS       float64 `json:"rps,omitempty"`
	PeakRPS   float64 `json:"peakRPS,omitempty"`
	Variation float64 `json:"variation,omitempty"`
	// Latency is the quantile that was asked for; 0 is not known. One above the highest bucket reads as that bucket.
	Latency time.Duration `json:"latency,omitempty"`
	// ErrorRatio is the share of requests that failed: 0 to 1.
	ErrorRatio float64 `json:"errorRatio,omitempty"`
	// Concurrency is how many requests were under way in the mean.
	Concurrency float64 `json:"concurrency,omitempty"`
	// Pods is how many were scraped with success, not longer than three intervals before the look.
	Pods int32 `json:"pods,omitempty"`
	// SampledAt is the time of the samples, by the clock of the manager: of the oldest among the newest of all series. The time of
	// an answer says nothing, because it is always new.
	SampledAt time.Time `json:"sampledAt,omitzero"`
	// Coverage is how many samples were seen of those expected over the window, for the pod with the most of them: what it lacks is
	// missing because the source did not look. LeastCoverage is that of the pod with the fewest, which may be young.
	Coverage      float64 `json:"coverage,omitempty"`
	LeastCoverage float64 `json:"leastCoverage,omitempty"`
	// Incomplete says that the source warned of its own answer, for example because a part of it could not be asked.
	Incomplete bool `json:"incomplete,omitempty"`
	// Window is the time over which was measured, and Interval that between two samples.
	Window   time.Duration `json:"window,omitempty"`
	Interval time.Duration `json:"interval,omitempty"`
}

// Known says that there is something to compute with.
func (f Facts) Known() bool { return f.Traffic != Unknown }
