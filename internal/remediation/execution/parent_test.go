package execution

import (
	"testing"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

func ofStep() *remediationv1.ParentRef {
	return &remediationv1.ParentRef{Name: "repair", UID: "r1", Step: "scale", Attempt: 1}
}

// alive is a request that asks for the execution.
func alive() Parent { return Parent{Sight: presence.Here, Agrees: true, Named: true} }

// aStep is an execution that is a step of a request, which has reserved its target.
func aStep() bench {
	b := unasked()
	b.Object = func() *remediationv1.KubernetesExecution { x := object(); x.Spec.Parent = ofStep(); return x }
	b.World = func() World {
		w := world()
		w.Parent, w.Target = alive(), reserve.Fact{State: reserve.Ours}
		return w
	}
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if x.Status.Phase == RollbackReady {
			w.Parent.Over = true
		}
		return Settle(x, w)
	}
	return b
}

// TestStepPath drills a step: it is done, and final once its request has ended.
func TestStepPath(t *testing.T) { fsmtest.Drill(t, aStep()) }

// TestStepOfNoRequestPath drills a step whose request is deleted once the Job is made: nothing is done.
func TestStepOfNoRequestPath(t *testing.T) {
	b := aStep()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Suspended {
			w.Parent, w.Target = Parent{Sight: presence.Gone}, reserve.Fact{State: reserve.Free}
		}
		return Settle(x, w)
	}
	b.End = "failed/cancelled"
	fsmtest.Drill(t, b)
}

// TestStepOfADeletedRequestPath drills a step whose request is deleted in the foreground once the Job is made, so that it is there
// until the step is gone; and one whose request is deleted and leaves its steps behind: the collector takes their owner off first.
func TestStepOfADeletedRequestPath(t *testing.T) {
	for name, agrees := range map[string]bool{"foreground": true, "orphan": false} {
		t.Run(name, func(t *testing.T) {
			b := aStep()
			b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
				if w.Job.Suspended {
					w.Parent.Deleted, w.Parent.Agrees = true, agrees
				}
				return Settle(x, w)
			}
			b.End = "failed/cancelled"
			fsmtest.Drill(t, b)
		})
	}
}

// TestStepThatIsNotAskedForPath drills a Job that is made for a step of which its request says something else.
func TestStepThatIsNotAskedForPath(t *testing.T) {
	b := aStep()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Suspended {
			w.Parent.Agrees = false
		}
		return Settle(x, w)
	}
	b.End = "failed/identity_unproven"
	fsmtest.Drill(t, b)
}

// TestStepWithoutWitnessPath drills a step whose Job ends without a word: its target is marked as that of any execution is.
func TestStepWithoutWitnessPath(t *testing.T) {
	b := aStep()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Sight == presence.Here && !w.Job.Suspended {
			w.Job.Over, w.Job.Why = true, "Job failed"
		}
		return w
	}
	b.End = "failed/outcome_unknown"
	fsmtest.Drill(t, b)
}
