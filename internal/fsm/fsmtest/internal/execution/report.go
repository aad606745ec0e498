package execution

import "github.com/statecraft-dev/statecraft/internal/fsm"

// report saves what must be durable before the next step, and what is known.
func report(out *Execution, in input, p fsm.Pass) {
	s, d := &out.Status, p.Decision
	switch {
	case !d.Save:
	case d.Reason == ReasonPlanned:
		s.PlanDigest, s.Plans = in.World.Digest, s.Plans+1
	case d.Reason == ReasonBefore:
		s.Before = in.World.Footprint
	case d.Reason == ReasonNoReturn:
		s.JobUID, s.Effect = in.World.Job.UID, Started
	}
	if s.Phase == WaitingApproval && s.ApprovalBy == nil {
		s.ApprovalBy = s.Deadline
	}
	if s.Phase == Completed || s.Phase == Failed {
		s.Effect = effect(in)
	}
}

// effect says what is known about the target at the end.
func effect(in input) Verdict {
	if v, ended := in.World.verdict(); ended {
		return v
	}
	switch j := in.World.Job; {
	case in.World.Token:
		return Applied
	case j == nil && in.Obj.Status.JobUID == "", j != nil && j.Suspended:
		return None
	}
	return Unknown
}
