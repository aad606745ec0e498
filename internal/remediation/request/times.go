package request

import "time"

// beginBy is when the last step must have begun.
func beginBy(in input) time.Time {
	return in.Obj.CreationTimestamp.Add(time.Duration(in.Obj.Spec.DeadlineSeconds) * time.Second)
}

// deadline is when nothing begins any more in this phase.
func deadline(in input) time.Time {
	if in.Obj.Status.Phase == RollingBack {
		return in.Obj.Status.Since.Add(time.Duration(in.Obj.Spec.RollbackDeadlineSeconds) * time.Second)
	}
	return beginBy(in)
}

func isLate(in input) bool { return !in.Now.Before(deadline(in)) }

const (
	firstPause  = 10 * time.Second
	longestWait = 5 * time.Minute
)

// nextTryAt is when the next try may begin, after one that failed.
func nextTryAt(r run) time.Time {
	if r.EndedAt == nil {
		return time.Time{}
	}
	return r.EndedAt.Add(min(firstPause<<min(max(r.Attempt-1, 0), 10), longestWait))
}
