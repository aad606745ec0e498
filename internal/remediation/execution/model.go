package execution

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	w.Target, w.Audit = w.Target.After(e), w.Audit.after(e)
	switch e := e.(type) {
	case MakeAccount:
		w.Look.NeedsAccount = false
	case MarkBegun:
		w.Begun = true
	case CreateJob:
		if w.Job.Sight == presence.Gone {
			w.Job = Job{Sight: presence.Here, UID: "job", ResourceVersion: "1", Suspended: true}
		}
	case ReleaseJob:
		if w.Job.Sight == presence.Here && w.Job.UID == e.UID && w.Job.ResourceVersion == e.ResourceVersion {
			w.Job.Suspended, w.Job.ResourceVersion = false, "2"
		}
	case DeleteJob:
		if w.Job.UID == e.UID && w.Job.ResourceVersion == e.ResourceVersion {
			w.Job = Job{Sight: presence.Gone}
		}
	}
	return w
}

// after is what is known of the record after an effect.
func (a Audit) after(e fsm.Effect) Audit {
	if _, is := e.(RecordIntent); is && a.Sight == presence.Gone {
		a.Sight, a.Seq, a.Hash = presence.Here, 7, "hash"
	}
	return a
}

// Settle is what others do meanwhile: a Job that was released changes the target, says so and ends.
func Settle(x *remediationv1.KubernetesExecution, w World) World {
	if w.Job.Sight == presence.Here && !w.Job.Suspended && !w.Job.Over {
		w.Job.StartedAt = metav1.NewTime(x.Status.Since.Time)
		w.Job.Over, w.Job.Succeeded, w.Job.Pods = true, true, true
		w.Job.Report = &Report{Effect: remediationv1.EffectApplied, Affected: 1, After: "after"}
		w.Look = withState(w.Look, "after")
	}
	return w
}

// withState is a look at a target that has changed.
func withState(l Look, hash string) Look {
	l.Token = true
	l.State = &remediationv1.Footprint{Hash: hash, UID: types.UID("t1"), ResourceVersion: "9"}
	l.Outcome, l.Plan, l.Reason, l.Message = Refused, nil, ReasonTargetChanged, "The target is as the action would leave it."
	return l
}
