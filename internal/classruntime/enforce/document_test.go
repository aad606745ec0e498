package enforce

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
)

// rule is a way to decide when a recommendation is applied.
type rule interface {
	// decide says what to write, if anything, and when to decide again if nothing new is recommended.
	decide(q capacity.Question, now time.Time) (to int32, apply bool, after time.Duration)
}

// band is what the product does.
type band struct {
	Settings
	lane Lane
	wary bool // or what it would do if it counted the variation of a load against growth as well
}

func (b *band) decide(q capacity.Question, now time.Time) (int32, bool, time.Duration) {
	r := capacity.Recommend(q)
	r.Measured = false // every sample is there, and fresh
	if b.wary {
		r.Confidence = int32(100 / (1 + q.Load.Variation))
	}
	in := Input{Settings: b.Settings, Lane: b.lane, Phase: Steady, Current: true, Now: now, Applied: &q.Replicas, Recommended: &r}
	d := Decide(in)
	if b.lane = in.Next(); d.Apply {
		b.lane = b.lane.Took(d.To, q.Replicas, now)
	}
	return d.To, d.Apply, d.After
}

// document is what the document says that the product implements, with the same limits, paces and steps: the timer restarts when
// the target is another number. That the target is applied already is left out of its text; without it there is no end.
type document struct {
	Settings
	target  int32
	changed time.Time // when the target was last another one
	applied time.Time // when something was written
}

func (d *document) decide(q capacity.Question, now time.Time) (int32, bool, time.Duration) {
	applied, target := q.Replicas, min(max(capacity.Recommend(q).Replicas, d.Min), d.Max)
	if target != d.target {
		d.target, d.changed = target, now
	}
	pace, to := d.Up, min(target, applied+step(applied, d.Up))
	if target < applied {
		pace, to = d.Down, max(target, applied-step(applied, d.Down))
	}
	wait := d.changed.Add(pace.Stability).Sub(now)
	if !d.applied.IsZero() {
		wait = max(wait, d.applied.Add(pace.Cooldown).Sub(now))
	}
	if target == applied || wait > 0 {
		return 0, false, max(0, wait)
	}
	d.applied = now
	return to, true, 0
}
