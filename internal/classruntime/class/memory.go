package class

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// laneAt is where a lane is stored; it makes room for a new one.
func laneAt(c *runtimev1.ClassRuntime, key string) *meta.Place {
	i := laneIndex(c, key)
	if i < 0 {
		i = len(c.Status.Enforcement)
		c.Status.Enforcement = append(c.Status.Enforcement, runtimev1.EnforcementStatus{Function: key, Dimension: runtimev1.DimensionReplicas})
	}
	return &c.Status.Enforcement[i].Place
}

func laneIndex(c *runtimev1.ClassRuntime, key string) int {
	return slices.IndexFunc(c.Status.Enforcement, func(s runtimev1.EnforcementStatus) bool {
		return s.Function == key && s.Dimension == runtimev1.DimensionReplicas
	})
}

// LanePhase is that of the lane of a function, if the spec asks for one; "" is one that has not begun.
func LanePhase(c *runtimev1.ClassRuntime, key string) (phase fsm.Phase, asked bool) {
	if spec.ModeOf(c) != runtimev1.ModeEnforce {
		return "", false
	}
	if i := laneIndex(c, key); i >= 0 {
		phase = c.Status.Enforcement[i].Phase
	}
	return phase, true
}

// laneOf is what the status remembers of a lane.
func laneOf(c *runtimev1.ClassRuntime, key string) enforce.Lane {
	i := laneIndex(c, key)
	if i < 0 {
		return enforce.Lane{}
	}
	s := c.Status.Enforcement[i]
	return enforce.Lane{
		Target: s.Target, Clamped: enforce.Clamp(s.Clamped), Direction: enforce.Direction(s.Direction), Since: timeOf(s.DirectionSince), Low: s.Low, High: s.High,
		Applied: s.Applied, AppliedAt: timeOf(s.AppliedAt), Previous: s.Previous,
	}
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// keepLane remembers a lane.
func keepLane(s *runtimev1.EnforcementStatus, l enforce.Lane) {
	s.Target, s.Clamped, s.Direction, s.Low, s.High = l.Target, string(l.Clamped), string(l.Direction), l.Low, l.High
	s.DirectionSince, s.Applied, s.AppliedAt, s.Previous = stampOf(l.Since), l.Applied, stampOf(l.AppliedAt), l.Previous
}

func stampOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	at := metav1.NewTime(t.Truncate(time.Second))
	return &at
}

// noteLanes keeps what lanes remember. One that did not look forgets what it saw before: it may have been otherwise meanwhile.
func noteLanes(out *runtimev1.ClassRuntime, in input, outcomes []fsm.Outcome) {
	var all []runtimev1.EnforcementStatus
	for _, s := range out.Status.Enforcement {
		f, has := in.World.function(s.Function)
		if !has || !f.Enforced {
			continue
		}
		l := laneOf(in.Obj, s.Function)
		if in.Obj.Status.Phase == Available && out.Status.Phase == Available && slices.Contains(enforced(in), s.Function) {
			l = about(in, s.Function, s.Place).Next()
		} else {
			l = l.Idle()
		}
		for _, o := range outcomes {
			if e, is := o.Effect.(Scale); is && e.Function == s.Function && o.Err == nil {
				l = l.Took(e.To, e.From, in.Now)
			}
		}
		keepLane(&s, l)
		all = append(all, s)
	}
	out.Status.Enforcement = all
}
