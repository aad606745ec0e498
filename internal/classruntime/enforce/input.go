package enforce

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Mode says what is done with recommendations.
type Mode string

// The modes.
const (
	Off     Mode = "off"
	Observe Mode = "observe"
	Enforce Mode = "enforce"
)

// Pace is how fast a lane goes in one direction.
type Pace struct {
	Stability time.Duration // how long a target must be in that direction
	Cooldown  time.Duration // how long after the last change, in whatever direction
	// StepPercent is by how much a change may alter what is applied; it is always one replica.
	StepPercent int32
}

// Settings are those of the spec, and of what governs the function.
type Settings struct {
	Mode     Mode
	Up, Down Pace
	// Min is what the spec asks for: enforcement never goes below its user. Max is the most that enforcement, and the
	// autoscaler if there is one, may have.
	Min, Max      int32
	MinConfidence int32         // of 100
	StaleAfter    time.Duration // how old samples may be
}

// revisionEvery is how often a floor of Knative may come down.
const revisionEvery = time.Hour

// ForRevisions are the settings where every change makes a new revision of the function.
func (s Settings) ForRevisions() Settings {
	s.Down.Cooldown = max(s.Down.Cooldown, revisionEvery)
	return s
}

// Evidence is what a recommendation that was measured rests on.
type Evidence struct {
	SampledAt time.Time
	// DoubtOfGrowth and DoubtOfShrinking say in a sentence why it must not be followed up or down.
	DoubtOfGrowth, DoubtOfShrinking string
}

// EvidenceOf are the facts that it was computed from.
func EvidenceOf(f load.Facts, pods load.Pods, now time.Time) Evidence {
	return Evidence{f.SampledAt, f.DoubtOfGrowth(pods, now), f.DoubtOfShrinking(pods, now)}
}

// Input is everything that the decision about a lane follows from.
type Input struct {
	Settings
	Lane    Lane      // as the status has it
	Phase   fsm.Phase // likewise
	Entered time.Time // when the lane entered the phase

	// Recommended is nil if nothing is. Current says that it is of this generation of the spec.
	Recommended *capacity.Recommendation
	Current     bool
	Evidence    Evidence

	Applied *int32 // what the field says; nil if it was not read
	// Taken names the owner that has taken the field, if that is known. Retaken says that the field may be written all the same: the
	// owner let it go, or a person asked for it since. A lane that has yielded waits for that.
	Taken   string
	Retaken bool

	Now time.Time
}

// Next is what the status is to remember of the lane. It follows from the same as the decision, and asking for it
// again changes nothing.
func (in Input) Next() Lane {
	target, clamped, known := in.target()
	if !known {
		return in.Lane.Idle()
	}
	l := in.Lane.watch(target, *in.Applied, in.Now)
	l.Clamped = clamped
	return l
}

// target is what is recommended, within its limits, if it may be followed at all.
func (in Input) target() (target int32, clamped Clamp, known bool) {
	if in.unusable() != "" {
		return 0, Unclamped, false
	}
	switch n, highest := in.Recommended.Replicas, max(in.Min, in.Max); {
	case n < in.Min:
		return in.Min, ClampedMin, true
	case n > highest:
		return highest, ClampedMax, true
	default:
		return n, Unclamped, true
	}
}

// unusable is why no target follows from what is known.
func (in Input) unusable() fsm.Reason {
	switch r := in.Recommended; {
	case in.Mode != Enforce:
		return ReasonNotEnforced
	case (in.Taken != "" || in.Phase == Yielded) && !in.Retaken:
		return ReasonConflict
	case r == nil || in.Applied == nil:
		return ReasonNoTarget
	case !in.Current, r.Measured && in.Now.Sub(in.Evidence.SampledAt) > in.StaleAfter:
		return ReasonStale
	}
	return ""
}
