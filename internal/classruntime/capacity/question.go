package capacity

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// Requirements are what a class requires of a function; 0 requires nothing.
type Requirements struct {
	MinRPS       float64       // requests a second that it must be able to carry
	MaxLatency   time.Duration // of the quantile that is measured
	Availability float64       // the share of time in which enough replicas must be there, below 1
}

// Question is everything that the number of replicas follows from.
type Question struct {
	Requirements
	PerReplica float64 // κ as declared; 0 is unknown
	// PodAvailability is the share of time in which one pod is there; 0 is DefaultPodAvailability.
	PodAvailability float64
	Replicas        int32 // what is applied now
	// Governed says that an autoscaler follows the load. Then the answer is its floor, which follows from the requirements
	// alone: a floor that follows the load is raised to every peak, and the autoscaler cannot go below it again.
	Governed bool
	Load     load.Facts
}

// Basis says which sum an answer follows from.
type Basis string

// The sums.
const (
	Requirement  Basis = "Requirement"  // the throughput that is required, whatever the load
	Throughput   Basis = "Throughput"   // the load
	Latency      Basis = "Latency"      // the latency that is exceeded under load
	Availability Basis = "Availability" // the replicas that may be missing now and then
)

// Note says what an answer leaves open.
type Note string

// The notes.
const (
	// CapacityUnknown: nobody declared what one replica carries, so no load can be turned into replicas.
	CapacityUnknown Note = "CapacityUnknown"
	// LoadUnknown: nothing was measured, so the answer holds what is applied and what is required.
	LoadUnknown Note = "LoadUnknown"
	// LatencyNotLoadBound: the latency is exceeded by replicas that have little to do. More of them would not help.
	LatencyNotLoadBound Note = "LatencyNotLoadBound"
)

// Recommendation is how many replicas a function needs.
type Recommendation struct {
	Replicas int32
	Basis    Basis
	Note     Note
	// Confidence is how much the number is to be trusted: 0 to 100.
	Confidence int32
	// Measured says that the number follows from what was measured, and is no better than that. Otherwise
	// it follows from the requirements alone, which are always known.
	Measured bool
}
