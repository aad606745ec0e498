package capacity

import (
	"math"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// loaded is a function of which one replica carries 10 requests a second, and everything was seen.
func loaded(replicas int32, rps float64) Question {
	return Question{PerReplica: 10, Replicas: replicas, Load: load.Facts{
		Traffic: load.Measured, RPS: rps, PeakRPS: rps, Coverage: 1, Latency: 100 * time.Millisecond,
	}}
}

func (q Question) but(change func(*Question)) Question {
	change(&q)
	return q
}

var unmeasured = load.Facts{}

func TestRecommend(t *testing.T) {
	for name, tc := range map[string]struct {
		q    Question
		want Recommendation
	}{
		// Throughput: above 70 % up to 65 %, and below 60 % down to that.
		"as many as carry the load at 65 %":         {loaded(3, 65), Recommendation{10, Throughput, "", 100, true}},
		"what it has is enough":                     {loaded(10, 70), Recommendation{10, Throughput, "", 100, true}},
		"21 of 10 times 3 is not above 70 %":        {loaded(10, 21).but(func(q *Question) { q.PerReplica = 3 }), Recommendation{10, Throughput, "", 100, true}},
		"a little more load, one more":              {loaded(10, 70.1), Recommendation{11, Throughput, "", 100, true}},
		"of a hundred, some more":                   {loaded(100, 701), Recommendation{108, Throughput, "", 100, true}},
		"at 60 % of one less nothing is taken away": {loaded(11, 60.1), Recommendation{11, Throughput, "", 100, true}},
		"below that one is":                         {loaded(11, 60), Recommendation{10, Throughput, "", 100, true}},
		"the peak counts":                           {loaded(3, 65).but(func(q *Question) { q.Load.RPS = 20 }), Recommendation{10, Throughput, "", 100, true}},
		"the mean counts where there is no peak":    {loaded(3, 65).but(func(q *Question) { q.Load.PeakRPS = 0 }), Recommendation{10, Throughput, "", 100, true}},
		"no requests need no replicas":              {loaded(3, 0), Recommendation{0, Throughput, "", 100, true}},
		"more than there can be":                    {loaded(3, 1e9), Recommendation{Most, Throughput, "", 100, true}},
		"a load that is no number is no load":       {loaded(3, math.NaN()), Recommendation{3, Throughput, LoadUnknown, 0, true}},
		"nor is a peak":                             {loaded(3, 1).but(func(q *Question) { q.Load.PeakRPS = math.Inf(1) }), Recommendation{3, Throughput, LoadUnknown, 0, true}},

		// What is required, at 70 %.
		"the requirement is more than the load":   {loaded(3, 5).but(func(q *Question) { q.MinRPS = 70 }), Recommendation{10, Requirement, "", 100, false}},
		"the load is more than the requirement":   {loaded(3, 65).but(func(q *Question) { q.MinRPS = 20 }), Recommendation{10, Throughput, "", 100, true}},
		"the requirement needs no measurement":    {loaded(3, 0).but(func(q *Question) { q.MinRPS, q.Load = 70, unmeasured }), Recommendation{10, Requirement, LoadUnknown, 100, false}},
		"what is required and applied":            {loaded(10, 5).but(func(q *Question) { q.MinRPS = 70 }), Recommendation{10, Requirement, "", 100, false}},
		"down to the requirement, by measurement": {loaded(20, 5).but(func(q *Question) { q.MinRPS = 70 }), Recommendation{10, Requirement, "", 100, true}},
		"not down without one":                    {loaded(20, 5).but(func(q *Question) { q.MinRPS, q.Load = 70, unmeasured }), Recommendation{20, Throughput, LoadUnknown, 0, true}},
		"no scraped pod is not no load":           {loaded(20, 0).but(func(q *Question) { q.Load.Traffic = load.Unknown }), Recommendation{20, Throughput, LoadUnknown, 0, true}},

		// Unknown capacity.
		"unknown capacity never shrinks":          {loaded(5, 0).but(func(q *Question) { q.PerReplica = 0 }), Recommendation{5, Throughput, CapacityUnknown, 0, true}},
		"nor does it grow":                        {loaded(5, 1e6).but(func(q *Question) { q.PerReplica = 0 }), Recommendation{5, Throughput, CapacityUnknown, 0, true}},
		"nor by latency":                          {loaded(5, 50).but(func(q *Question) { q.PerReplica, q.MaxLatency = 0, 1 }), Recommendation{5, Throughput, CapacityUnknown, 0, true}},
		"an availability can be had all the same": {loaded(1, 0).but(func(q *Question) { q.PerReplica, q.Availability = 0, 0.99999 }), Recommendation{3, Availability, CapacityUnknown, 100, false}},

		// Latency.
		"latency under load multiplies":               {loaded(10, 70).but(func(q *Question) { q.MaxLatency = 80 * time.Millisecond }), Recommendation{13, Latency, "", 100, true}},
		"but not by more than two":                    {loaded(10, 70).but(func(q *Question) { q.MaxLatency = time.Millisecond }), Recommendation{20, Latency, "", 100, true}},
		"latency at 56 % still does":                  {loaded(10, 56).but(func(q *Question) { q.MaxLatency = 50 * time.Millisecond }), Recommendation{20, Latency, "", 100, true}},
		"latency without load does not":               {loaded(10, 55).but(func(q *Question) { q.MaxLatency = 50 * time.Millisecond }), Recommendation{10, Throughput, LatencyNotLoadBound, 100, true}},
		"nor is anything taken away from it":          {loaded(20, 55).but(func(q *Question) { q.MaxLatency = 50 * time.Millisecond }), Recommendation{20, Throughput, LatencyNotLoadBound, 100, true}},
		"latency that is kept is no ground to shrink": {loaded(10, 65).but(func(q *Question) { q.MaxLatency = time.Hour }), Recommendation{10, Throughput, "", 100, true}},
		"throughput may ask for more than latency":    {loaded(3, 65).but(func(q *Question) { q.MaxLatency = 90 * time.Millisecond }), Recommendation{10, Throughput, "", 100, true}},
		"latency without requests is unknown":         {loaded(3, 0).but(func(q *Question) { q.MaxLatency, q.Load.Latency = 1, 0 }), Recommendation{0, Throughput, "", 100, true}},

		// Availability: seven carry 65, and each is there for 99.5 % of the time.
		"availability asks for more":               {loaded(11, 65).but(func(q *Question) { q.Availability = 0.999999999 }), Recommendation{12, Availability, "", 100, true}},
		"what throughput spares may be enough":     {loaded(3, 65).but(func(q *Question) { q.Availability = 0.999 }), Recommendation{10, Throughput, "", 100, true}},
		"nothing to carry has to be there as well": {loaded(1, 0).but(func(q *Question) { q.Availability = 0.9999 }), Recommendation{2, Availability, "", 100, false}},
		"pods that are seldom there":               {loaded(3, 65).but(func(q *Question) { q.Availability, q.PodAvailability = 0.999, 0.8 }), Recommendation{15, Availability, "", 100, true}},

		// Autoscalers.
		"the floor under an autoscaler":           {loaded(3, 500).but(func(q *Question) { q.Governed, q.MinRPS = true, 70 }), Recommendation{10, Requirement, "", 100, false}},
		"a floor comes down with the requirement": {loaded(30, 500).but(func(q *Question) { q.Governed, q.MinRPS = true, 70 }), Recommendation{10, Requirement, "", 100, false}},
		"without a requirement it asks for none":  {loaded(30, 500).but(func(q *Question) { q.Governed = true }), Recommendation{0, Requirement, "", 100, false}},
		"no latency raises a floor":               {loaded(10, 70).but(func(q *Question) { q.Governed, q.MinRPS, q.MaxLatency = true, 7, 1 }), Recommendation{1, Requirement, "", 100, false}},
		"availability does":                       {loaded(10, 70).but(func(q *Question) { q.Governed, q.MinRPS, q.Availability = true, 7, 0.99999 }), Recommendation{3, Availability, "", 100, false}},

		// Confidence.
		"half of the samples":                    {loaded(3, 65).but(func(q *Question) { q.Load.Coverage = 0.5 }), Recommendation{10, Throughput, "", 50, true}},
		"more samples than expected":             {loaded(3, 65).but(func(q *Question) { q.Load.Coverage = 1.1 }), Recommendation{10, Throughput, "", 100, true}},
		"a load that varies":                     {loaded(20, 60).but(func(q *Question) { q.Load.Variation = 0.25 }), Recommendation{10, Throughput, "", 80, true}},
		"what varies while it rises is followed": {loaded(3, 65).but(func(q *Question) { q.Load.Variation = 2 }), Recommendation{10, Throughput, "", 100, true}},
		"also by latency":                        {loaded(10, 70).but(func(q *Question) { q.MaxLatency, q.Load.Variation = 80*time.Millisecond, 2 }), Recommendation{13, Latency, "", 100, true}},
		"a variation that is no number":          {loaded(20, 60).but(func(q *Question) { q.Load.Variation = math.NaN() }), Recommendation{10, Throughput, "", 0, true}},
		"a coverage that is no number":           {loaded(3, 65).but(func(q *Question) { q.Load.Coverage = math.NaN() }), Recommendation{10, Throughput, "", 0, true}},
	} {
		if got := Recommend(tc.q); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// Whatever is asked: an answer holds what is required, follows a load that grows, and without anything known takes nothing away.
func TestRecommendHolds(t *testing.T) {
	for replicas := int32(0); replicas <= 40; replicas++ {
		last := int32(0)
		for rps := 0.0; rps < 200; rps += 3.7 {
			q := loaded(replicas, rps)
			q.MinRPS, q.Availability = 35, 0.999
			got := Recommend(q).Replicas
			if got < last || float64(got)*q.PerReplica*target < rps-dust && got < replicas || got < 5 {
				t.Fatalf("%d replicas and %.1f requests a second come to %d, %.1f less came to %d", replicas, rps, got, 3.7, last)
			}
			last = got
			q.Load.Traffic = load.Unknown
			if got := Recommend(q).Replicas; got < replicas {
				t.Fatalf("without a load %d replicas come to %d", replicas, got)
			}
			q.PerReplica = 0
			if got := Recommend(q).Replicas; got < replicas {
				t.Fatalf("without a capacity %d replicas come to %d", replicas, got)
			}
		}
	}
}

// With a load that moves to and fro within the band between the two utilisations nothing changes.
func TestTheBandHolds(t *testing.T) {
	replicas := int32(10)
	for i := range 100 {
		rps := 65 + 4.9*math.Sin(float64(i)) // 60.1 to 69.9
		if got := Recommend(loaded(replicas, rps)).Replicas; got != replicas {
			t.Fatalf("%.1f requests a second come to %d replicas", rps, got)
		}
	}
}
