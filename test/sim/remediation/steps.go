package remediation

import (
	"errors"

	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// isApproved: an execution is asked for, approved and done.
func (s *story) isApproved() []sim.Step {
	return []sim.Step{
		{Name: "ask for more replicas", Do: s.asking(s.first), Until: s.until(s.first, execution.WaitingApproval, "")},
		{Name: "approve it", Do: s.approving(s.first, false), Until: s.until(s.first, execution.Completed, "")},
	}
}

// isWithdrawn: an execution is ended before its Job is released, and nothing is done.
func (s *story) isWithdrawn() []sim.Step {
	why := execution.ReasonCancelled
	if !s.asks {
		return []sim.Step{{Name: "ask for more replicas", Do: s.asking(s.first), Until: s.until(s.first, execution.Failed, why)}}
	}
	return []sim.Step{
		{Name: "ask for more replicas", Calm: true, Do: s.asking(s.first), Until: s.until(s.first, execution.WaitingApproval, "")},
		{Name: "approve it", Do: s.approving(s.first, false), Until: s.until(s.first, execution.Failed, execution.ReasonTargetChanged)},
	}
}

// isTakenBack: an execution was approved together with its rollback, and is taken back.
func (s *story) isTakenBack() []sim.Step {
	s.first.Spec.FinalizeAfterSeconds = 604800 // whatever happens to the clock
	s.about(s.then)
	return []sim.Step{
		{Name: "ask for more replicas", Calm: true, Do: s.asking(s.first), Until: s.until(s.first, execution.WaitingApproval, "")},
		{Name: "approve it and its rollback", Calm: true, Do: s.approving(s.first, true), Until: s.until(s.first, execution.RollbackReady, "")},
		{Name: "take it back", Do: s.takeBack, Until: func() error {
			return errors.Join(s.until(s.then, execution.Completed, "")(), s.until(s.first, execution.Failed, execution.ReasonRolledBack)())
		}},
	}
}

// losesItsJob: of two executions one loses its Job before that is released, the other one while its pod runs. Nobody
// knows what either did, so a person looks at the target before the other may begin.
func (s *story) losesItsJob() []sim.Step {
	return []sim.Step{
		{Name: "ask for more replicas", Do: s.asking(s.first), Until: s.until(s.first, execution.Failed, execution.ReasonOutcomeUnknown)},
		{Name: "ask for something else", Do: s.next, Until: s.held},
		{Name: "acknowledge what became of the first", Do: s.acknowledge, Until: s.until(s.then, execution.Failed, execution.ReasonOutcomeUnknown)},
	}
}

// losesItsReport: one execution loses its Job and its pod after it has changed the target, which still says so; the other one
// its Job alone, while its pod runs, which reports all the same.
func (s *story) losesItsReport() []sim.Step {
	return []sim.Step{
		{Name: "ask for more replicas", Do: s.asking(s.first), Until: s.until(s.first, execution.Completed, "")},
		{Name: "ask for something else", Do: s.next, Until: s.until(s.then, execution.Completed, "")},
	}
}

// losesItsStatus: long after an execution is done, its Job is gone, another one has left its token on the target, and then
// its status is lost. Only its mark tells that it has begun.
func (s *story) losesItsStatus() []sim.Step {
	return []sim.Step{
		{Name: "ask for more replicas", Calm: true, Do: s.asking(s.first), Until: s.until(s.first, execution.Completed, "")},
		{Name: "ask for something else", Calm: true, Do: s.asking(s.then), Until: s.until(s.then, execution.Completed, "")},
		{Name: "lose Jobs and status", Do: s.forget, Until: s.until(s.first, execution.Failed, execution.ReasonStatusLost)},
	}
}
