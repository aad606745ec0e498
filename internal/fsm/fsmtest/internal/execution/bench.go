package execution

import (
	"errors"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// Bench runs an action that needs no approval.
func Bench() fsmtest.Bench[*Execution, World] {
	return fsmtest.Bench[*Execution, World]{
		Machine: &Machine,
		Object: func() *Execution {
			return &Execution{
				ObjectMeta: metav1.ObjectMeta{Name: "kx", UID: "x1", Generation: 1},
				Spec: Spec{Action: "scale_deployment", ApprovalTimeout: metav1.Duration{Duration: time.Hour},
					Timeout: metav1.Duration{Duration: 5 * time.Minute}},
			}
		},
		World:   func() World { return World{Checks: Valid, Digest: "d1", Footprint: "f1"} },
		Perform: Perform,
		Settle:  Settle,
		Any:     anyExecution,
		Also:    []string{"failed/StatusLost", "completed/StatusLost", "failed/outcome_unknown"},
		End:     "completed/Applied",
		Safe:    safe,
	}
}

// safe: what cannot be taken back happens only when everything is saved.
func safe(in input, s fsm.Step[*Execution]) error {
	for _, e := range s.Decision.Do {
		switch e := e.(type) {
		case CreateJob:
			if in.Obj.Status.Before == "" {
				return errors.New("makes a Job without a saved before-state")
			}
		case ReleaseJob:
			if in.Obj.Status.JobUID != e.UID || in.World.Digest != in.Obj.Status.PlanDigest {
				return errors.New("releases a Job that is not saved, or another plan")
			}
		}
	}
	return nil
}

func anyExecution(r *rand.Rand, phase fsm.Phase) (*Execution, World) {
	x := Bench().Object()
	x.Spec.Cancel = r.IntN(8) == 0
	x.Status.Plans = r.IntN(7)
	x.Status.PlanDigest = pick(r, "", "d1", "d2")
	w := World{
		Checks: pick(r, "", Valid, Valid, Invalid, DryRunFailed), Digest: pick(r, "", "d1", "d1", "d2"),
		Footprint: pick(r, "", "f1"), NeedsApproval: r.IntN(2) == 0, Holder: pick(r, "", "x1", "x1", "other"),
	}
	if r.IntN(2) == 0 {
		w.Approval = &Approval{Digest: "d1", Rejected: r.IntN(3) == 0, Expires: time.Unix(1_700_000_000+int64(r.IntN(100_000)), 0).UTC()}
	}
	if phase != Executing && phase != "" {
		return x, w
	}
	x.Status.Before = pick(r, "", "f1")
	if r.IntN(2) == 0 && phase != "" {
		x.Status.JobUID = "job-x1"
	}
	if r.IntN(4) > 0 {
		w.Job = &Job{UID: pick(r, "job-x1", "job-x1", "stranger"), Suspended: r.IntN(2) == 0}
	}
	if w.Job != nil && !w.Job.Suspended {
		w.Job.Complete = r.IntN(3) == 0
		w.Job.Failed = !w.Job.Complete && r.IntN(2) == 0
		w.Message, w.Token = pick(r, "", "", Applied, NotApplied), r.IntN(2) == 0
	}
	return x, w
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }
