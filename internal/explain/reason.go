package explain

import (
	"cmp"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// moveRefused is the reason of the event by which a manager says that it does not know a phase.
const moveRefused = "MoveRefused"

func readyOf(p meta.Progress) metav1.Condition {
	if c := apimeta.FindStatusCondition(p.Conditions, fsm.Ready); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// whyOf is the reason for which an object is where it is, and its words. A Ready that is Unknown
// says that nothing newer is known; then comes what is awaited, then what the end was.
func whyOf(p meta.Progress) (reason, words string) {
	ready := readyOf(p)
	var last meta.Transition
	if n := len(p.History); n > 0 {
		last = p.History[n-1]
	}
	switch {
	case ready.Status == metav1.ConditionUnknown:
		return ready.Reason, ready.Message
	case p.WaitingFor != "":
		reason = cmp.Or(string(p.Reason), ready.Reason, string(last.Reason))
		return reason, p.WaitingFor
	case ready.Reason != "":
		return ready.Reason, cmp.Or(ready.Message, last.Message)
	}
	return cmp.Or(string(p.Reason), string(last.Reason)), last.Message
}

// asWished says that the object is what its spec asks for, as last seen, and awaits nothing. What
// is in a phase that is not known, or that the manager refuses to act upon, is not known to be so.
func (f Facts) asWished() bool {
	p := f.Progress
	if f.Deleted != nil || !f.Table.known(p.Phase) || f.refused() {
		return false
	}
	return readyOf(p).Status == metav1.ConditionTrue && p.WaitingFor == "" && p.ObservedGeneration >= f.Generation
}

// failed says that the object has ended badly, or needs a person to continue.
func (f Facts) failed() bool {
	return apimeta.IsStatusConditionTrue(f.Progress.Conditions, fsm.Stalled)
}

// refused says that the manager does not know the phase, either.
func (f Facts) refused() bool {
	for _, e := range f.Events {
		if e.Reason == moveRefused && !e.At.Time.Before(f.Progress.Since.Time) {
			return true
		}
	}
	return false
}

// known says that the table knows the phase of the object.
func (t Table) known(phase fsm.Phase) bool { _, is := t.Phases[phase]; return is }

// sameVersion says that the status was written by the machine that this program has.
func (f Facts) sameVersion() bool { return f.Progress.MachineHash == f.Table.Hash }
