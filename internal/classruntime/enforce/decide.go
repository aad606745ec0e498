package enforce

import (
	"cmp"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Decision is what becomes of a lane.
type Decision struct {
	Phase   fsm.Phase // to which it belongs
	Apply   bool      // To is to be written, once the lane is in that phase
	To      int32
	Reason  fsm.Reason
	Message string
	After   time.Duration // when to decide again, if nothing tells earlier; 0 is never
}

// Decide says what becomes of a lane: nothing while its target is applied; otherwise a change, once the direction has lasted, the
// last change is long enough ago, and what was measured allows it.
func Decide(in Input) Decision {
	if why := in.unusable(); why != "" {
		return in.hold(why)
	}
	l := in.Next()
	switch l.Direction {
	case Up:
		to := min(l.Low, *in.Applied+step(*in.Applied, in.Up))
		return in.change(Rising, in.Up, to, in.Evidence.DoubtOfGrowth)
	case Down:
		to := max(l.High, *in.Applied-step(*in.Applied, in.Down))
		return in.change(Falling, in.Down, to, in.Evidence.DoubtOfShrinking)
	}
	return Decision{Phase: Steady, Reason: ReasonEnforced, After: in.untilStale(),
		Message: fmt.Sprintf("The %d replicas that are recommended are applied.%s", l.Target, l.limit(in))}
}

// change leads to the new number, unless it is too early or there is a doubt.
func (in Input) change(phase fsm.Phase, pace Pace, to int32, doubt string) Decision {
	l := in.Next()
	d := Decision{Phase: phase, To: to}
	stable, cool := l.Since.Add(pace.Stability).Sub(in.Now), l.AppliedAt.Add(max(pace.Cooldown, time.Second)).Sub(in.Now)
	words, limit := fmt.Sprintf("%d replicas are wanted instead of %d", l.wanted(), *in.Applied), l.limit(in)
	switch {
	case !l.AppliedAt.IsZero() && cool > 0:
		d.Phase, d.Reason, d.After = Cooling, ReasonCooldown, cool
		d.Message = fmt.Sprintf("%s; the change waits until %s have passed since the last one.%s", words, pace.Cooldown, limit)
	case stable > 0:
		d.Reason, d.After = ReasonStability, stable
		d.Message = fmt.Sprintf("%s; the change is made once that has lasted for %s.%s", words, pace.Stability, limit)
		if l.Clamped == ClampedMax {
			d.Reason = ReasonClampedMax
		}
	case in.Recommended.Confidence < in.MinConfidence:
		d.Reason = ReasonLowConfidence
		d.Message = fmt.Sprintf("%s; the change waits for a confidence of %d %%.%s", words, in.MinConfidence, limit)
	case in.Recommended.Measured && doubt != "":
		d.Reason = ReasonDoubt
		d.Message = fmt.Sprintf("%s; the change waits for better evidence. %s", words, doubt)
	default:
		d.Apply, d.Reason = true, ReasonApplying
		d.Message = fmt.Sprintf("The manager changes replicas from %d to %d.", *in.Applied, to)
	}
	d.After = sooner(d.After, in.untilStale())
	return d
}

// sooner is the sooner of two times, of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// step is by how much a pace lets a number change at a time.
func step(applied int32, pace Pace) int32 {
	return max(1, int32(int64(applied)*int64(pace.StepPercent)/100)) //nolint:gosec // replicas are at most 1000, and the step is a few times as many
}

// wanted is the edge of the band that is to be applied.
func (l Lane) wanted() int32 {
	if l.Direction == Up {
		return l.Low
	}
	return l.High
}

// limit says which limit the recommendation is beyond.
func (l Lane) limit(in Input) string {
	switch l.Clamped {
	case ClampedMax:
		return fmt.Sprintf(" More are recommended, and at most %d are allowed.", max(in.Min, in.Max))
	case ClampedMin:
		return fmt.Sprintf(" Fewer are recommended, and the spec asks for %d.", in.Min)
	}
	return ""
}

// untilStale is how long what was measured may still be followed.
func (in Input) untilStale() time.Duration {
	if !in.Recommended.Measured {
		return 0
	}
	return max(time.Second, in.Evidence.SampledAt.Add(in.StaleAfter).Sub(in.Now)+time.Second)
}

// hold says why nothing is done.
func (in Input) hold(why fsm.Reason) Decision {
	d := Decision{Phase: Steady, Reason: why}
	switch why {
	case ReasonConflict:
		d.Phase = Yielded
		d.Message = fmt.Sprintf("The number of replicas belongs to %s now, so it is left as it is; annotation %s with the present time takes it back.",
			cmp.Or(in.Taken, "another owner"), RetakeAnnotation)
	case ReasonStale:
		d.Message = "Waiting for a recommendation that is of this spec and not too old; what is applied stays."
	case ReasonNoTarget:
		d.Message = "Waiting for a recommendation; what is applied stays."
	default:
		d.Message = "The class does not ask for its recommendations to be enforced; what is applied stays."
	}
	return d
}

// RetakeAnnotation on a class takes back a number that another owner has set: its value is the time of the wish.
const RetakeAnnotation = "statecraft.dev/retake"
