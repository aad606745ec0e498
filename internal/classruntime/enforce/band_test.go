package enforce

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is recommended, and whenever: what the lane remembers is asked for twice without a change; what is applied is wanted by
// every target of the window; and a direction that lasts is followed, whatever the numbers are.
func TestTheBandHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := input(10, 10, 0)
		applied := int32(10)
		in.Applied, in.Min, in.Lane = &applied, 1, Lane{}
		var window []int32 // targets since the direction flipped or something was applied
		lasting := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "looks") {
			gap := time.Duration(rapid.IntRange(1, 40).Draw(t, "gap")) * time.Second
			in.Now = in.Now.Add(gap)
			in.Evidence.SampledAt = in.Now
			in.Recommended.Replicas = rapid.Int32Range(1, 20).Draw(t, "recommended")
			was := in.Lane.Direction
			d := Decide(in)
			in.Lane = in.Next()
			if again := in.Next(); again != in.Lane {
				t.Fatalf("asked twice: %+v, then %+v", in.Lane, again)
			}
			if in.Lane.Direction != was || in.Lane.Since.Equal(in.Now) {
				window, lasting = nil, 0
			} else {
				lasting += gap
			}
			window = append(window, in.Recommended.Replicas)
			check(t, in, d, window)
			if in.Lane.Direction == Up && lasting >= in.Up.Stability+in.Up.Cooldown && !d.Apply && d.Reason != ReasonCooldown {
				t.Fatalf("more is wanted for %s, and nothing is done: %+v", lasting, d)
			}
			if d.Apply {
				in.Lane = in.Lane.Took(d.To, applied, in.Now)
				applied = d.To
			}
		}
	})
}

func check(t *rapid.T, in Input, d Decision, window []int32) {
	if !d.Apply {
		return
	}
	for _, target := range window {
		if d.To > *in.Applied && target < d.To || d.To < *in.Applied && target > d.To {
			t.Fatalf("%d is applied instead of %d, and %d was wanted: %v", d.To, *in.Applied, target, window)
		}
	}
	pace := in.Up
	if d.To < *in.Applied {
		pace = in.Down
	}
	if in.Now.Sub(in.Lane.Since) < pace.Stability || !in.Lane.AppliedAt.IsZero() && in.Now.Sub(in.Lane.AppliedAt) < pace.Cooldown {
		t.Fatalf("too early: %+v at %s", in.Lane, in.Now)
	}
}
