package enforce

import "time"

// Direction is that of a target against what is applied.
type Direction string

// The directions.
const (
	None Direction = ""
	Up   Direction = "Up"
	Down Direction = "Down"
)

// Clamp says which limit a recommendation is beyond.
type Clamp string

// The limits.
const (
	Unclamped  Clamp = ""
	ClampedMin Clamp = "Min"
	ClampedMax Clamp = "Max"
)

// Lane is what the status remembers of a lane, besides its phase. Its times are whole seconds, as those of a status are.
type Lane struct {
	Target  int32 `json:"target,omitempty"` // as recommended, within its limits
	Clamped Clamp `json:"clamped,omitempty"`
	// Direction has been that of every target since Since, and Low and High are the least and the greatest of these.
	Direction Direction `json:"direction,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	Low       int32     `json:"low,omitempty"`
	High      int32     `json:"high,omitempty"`
	// Applied is what the lane wrote last, AppliedAt when, and Previous what the field was before.
	Applied   int32     `json:"applied,omitempty"`
	AppliedAt time.Time `json:"appliedAt,omitzero"`
	Previous  int32     `json:"previous,omitempty"`
}

// Took notes that a number was written in place of another.
func (l Lane) Took(to, from int32, now time.Time) Lane {
	l.Applied, l.Previous, l.AppliedAt = to, from, now.Truncate(time.Second)
	return l
}

// watch notes a target. The window begins anew when the direction flips, not when the number changes; and when
// what is applied has reached the edge of the band, so that the window has nothing left to say.
func (l Lane) watch(target, applied int32, now time.Time) Lane {
	direction := None
	switch {
	case target > applied:
		direction = Up
	case target < applied:
		direction = Down
	}
	used := direction == Up && l.Low <= applied || direction == Down && l.High >= applied
	if direction != l.Direction || used {
		l.Direction, l.Since = direction, now.Truncate(time.Second)
		l.Low, l.High = target, target
	}
	if direction == None {
		l.Since = time.Time{}
	}
	l.Target, l.Low, l.High = target, min(l.Low, target), max(l.High, target)
	return l
}

// Idle forgets the window of a lane that nothing is wanted of, or that did not look for a while.
func (l Lane) Idle() Lane {
	l.Direction, l.Since, l.Low, l.High = None, time.Time{}, 0, 0
	return l
}
