package load

import (
	"fmt"
	"time"
)

const (
	// FreshWithin is how many intervals old a sample may be on which replicas are added.
	FreshWithin = 3
	// enough is the share of pods, or of samples, that must be there.
	enough = 0.8
)

// Pods are those of a function as Kubernetes knows them.
type Pods struct {
	Ready    int32         // how many are ready
	Youngest time.Duration // the age of the youngest
}

// DoubtOfGrowth says in a sentence why replicas must not be added because of these facts; "" is no doubt. A load that was
// high a while ago may be over.
func (f Facts) DoubtOfGrowth(pods Pods, now time.Time) string {
	switch {
	case !f.Known():
		return "No pod of the function is scraped."
	case now.Sub(f.SampledAt) > FreshWithin*f.Interval:
		return fmt.Sprintf("The newest samples are older than %s.", FreshWithin*f.Interval)
	case float64(f.Pods) < enough*float64(pods.Ready):
		return fmt.Sprintf("Fewer than %.0f %% of the ready pods are scraped.", 100*enough)
	}
	return ""
}

// DoubtOfShrinking says in a sentence why replicas must not be taken away because of these facts; "" is no doubt. Whatever is
// not seen looks like less load, so everything must have been seen over the whole window.
func (f Facts) DoubtOfShrinking(pods Pods, now time.Time) string {
	switch doubt := f.DoubtOfGrowth(pods, now); {
	case doubt != "":
		return doubt
	case f.Traffic == Silent:
		return "The pods have no series of requests: they had none since they started, or the series has another name."
	case f.Incomplete:
		return "The source warns that its answer may be incomplete."
	case f.LeastCoverage < enough:
		return fmt.Sprintf("Fewer than %.0f %% of the samples of the last %s were seen.", 100*enough, f.Window)
	case pods.Youngest < f.Window:
		return fmt.Sprintf("A pod is younger than %s, over which is measured.", f.Window)
	}
	return ""
}
