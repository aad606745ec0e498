package request

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case MakeAccount:
		w.Looks = slices.Clone(w.Looks)
		for i := range w.Looks {
			w.Looks[i].NeedsAccount = false
		}
	case MarkBegun:
		w.Begun = true
	case CreateExecution:
		if _, is := w.child(e.Name); !is {
			made := Child{Name: e.Name, Sight: presence.Here, UID: uidOf(e.Name), ResourceVersion: "1", Step: e.Step, Attempt: e.Attempt, Undo: e.Undo}
			w.Children.List = append(slices.Clone(w.Children.List), made)
		}
	case CancelExecution:
		w.Children.List = changed(w.Children.List, e.Name, func(c *Child) {
			if c.UID == e.UID && c.ResourceVersion == e.ResourceVersion {
				c.Cancelled, c.ResourceVersion = true, "2"
			}
		})
	case reserve.Take:
		w.Targets = slices.Clone(w.Targets)
		for i := range w.Targets {
			if w.Targets[i].UID == e.Target.UID {
				w.Targets[i].Fact = w.Targets[i].After(e)
			}
		}
	}
	return w
}

// Settle is what others do meanwhile: an execution that its request has named does what it is asked for, and one that its
// request does not ask for, or that is cancelled, does nothing.
func Settle(rr *remediationv1.RemediationRequest, w World) World {
	for _, c := range w.Children.List {
		if c.Sight != presence.Here || c.over() {
			continue
		}
		switch {
		case c.Cancelled || isForgotten(rr, c):
			w.Children.List = changed(w.Children.List, c.Name, withoutEffect(execution.ReasonCancelled))
		case isNamed(rr, c):
			w.Children.List = changed(w.Children.List, c.Name, done)
		}
	}
	return w
}

// uidOf is the UID of an object of the model.
func uidOf(name string) types.UID { return types.UID("uid-" + name) }

// changed is a list of children of which one has changed.
func changed(all []Child, name string, how func(*Child)) []Child {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Name == name {
			how(&all[i])
		}
	}
	return all
}

func done(c *Child) {
	c.Phase, c.Effect, c.Message = execution.RollbackReady, remediationv1.EffectApplied, "The action is done."
	c.Rollback = &remediationv1.RollbackInformation{Available: true, RollbackAction: "scale_deployment"}
	if c.Undo {
		c.Phase, c.Rollback = execution.Completed, &remediationv1.RollbackInformation{}
	}
}

func withoutEffect(reason fsm.Reason) func(*Child) {
	return func(c *Child) {
		c.Phase, c.Effect, c.Reason, c.Message = execution.Failed, remediationv1.EffectNone, reason, "Nothing was done."
	}
}

func isNamed(rr *remediationv1.RemediationRequest, c Child) bool {
	s := statusOf(rr, c.Step)
	if s == nil {
		return false
	}
	r := runOf(s, c.Undo)
	return r != nil && r.Attempt == c.Attempt && (run{*r}).childUID() == c.UID
}

// isForgotten says that the request asks for no such try any more.
func isForgotten(rr *remediationv1.RemediationRequest, c Child) bool {
	s := statusOf(rr, c.Step)
	if s == nil {
		return rr.Status.Phase != "" // a request that is new to the manager asks for nothing yet
	}
	r := runOf(s, c.Undo)
	return r == nil || r.Attempt != c.Attempt
}
