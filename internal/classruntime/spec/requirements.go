package spec

import (
	"cmp"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
)

const (
	defaultPercentile = 95
	defaultStaleAfter = 180
)

// ModeOf is what is done with recommendations. Who names a source of telemetry wants to see them.
func ModeOf(c *runtimev1.ClassRuntime) runtimev1.Mode {
	if e := c.Spec.Enforcement; e != nil && e.Mode != "" {
		return e.Mode
	}
	if c.Spec.Telemetry != nil {
		return runtimev1.ModeObserve
	}
	return runtimev1.ModeOff
}

// StaleAfter is how old samples may be.
func StaleAfter(c *runtimev1.ClassRuntime) time.Duration {
	seconds := int32(0)
	if e := c.Spec.Enforcement; e != nil {
		seconds = e.StaleAfterSeconds
	}
	return time.Duration(cmp.Or(seconds, defaultStaleAfter)) * time.Second
}

// SourceOf is the name of the source that the class names; "" is none, or that nothing is to be observed.
func SourceOf(c *runtimev1.ClassRuntime) string {
	if c.Spec.Telemetry == nil || ModeOf(c) == runtimev1.ModeOff {
		return ""
	}
	return c.Spec.Telemetry.Source
}

// Needs are what is required of a function.
type Needs struct {
	capacity.Requirements
	// PerReplica is what one replica carries; 0 is unknown.
	PerReplica float64
	Percentile int32 // of the latency
	// Invalid says in a sentence what of it cannot be read.
	Invalid string
}

// NeedsOf are the requirements of a function: those of its class, and what one of its own replicas carries.
func NeedsOf(c *runtimev1.ClassRuntime, f *runtimev1.Function) (n Needs) {
	r := runtimev1.Requirements{}
	if c.Spec.Requirements != nil {
		r = *c.Spec.Requirements
	}
	if f.Requirements != nil && f.Requirements.Capacity != nil {
		r.Capacity = f.Requirements.Capacity
	}
	n.MinRPS = float64(r.MinThroughputRPS)
	n.MaxLatency = time.Duration(r.MaxLatencyMillis) * time.Millisecond
	n.Percentile = cmp.Or(r.LatencyPercentile, defaultPercentile)
	if text := r.AvailabilityPercent; text != "" {
		share, err := capacity.ParsePercent(text)
		if err != nil {
			n.Invalid = "requirements.availabilityPercent is no percentage below 100."
		}
		n.Availability = share
	}
	if r.Capacity != nil {
		n.PerReplica = max(0, r.Capacity.RPSPerReplica.AsApproximateFloat64())
	}
	return n
}
