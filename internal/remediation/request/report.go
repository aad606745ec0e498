package request

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// report saves what must be durable before the next step, and what is known.
func report(out *remediationv1.RemediationRequest, in input, p fsm.Pass) {
	s, now := &out.Status, metav1.NewTime(in.Now.Truncate(time.Second))
	s.OverallPhase = s.Phase
	for _, h := range p.Hops {
		reportMove(out, in, h, now)
	}
	if p.Decision.Save {
		save(out, in, p.Decision.Reason, now)
	}
	if Ended(out) && s.CompletionTimestamp == nil {
		s.CompletionTimestamp = &now
		if isLost(in) || movedBy(p, fsm.Lost) {
			s.Steps = stepsByChildren(out.Spec.Steps, in.World.Children.List, now)
		}
		for i := range s.Steps {
			if c, is := takenBack(in.World, &s.Steps[i]); is {
				saveTakenBack(&s.Steps[i], c, now)
			}
		}
	}
	summarise(out)
}

// reportMove saves what a move begins: all steps, or a try of one.
func reportMove(out *remediationv1.RemediationRequest, in input, h fsm.Hop, now metav1.Time) {
	switch {
	case h.Lane == "" && h.Event == Admitted:
		out.Status.Steps = begin(out.Spec.Steps)
	case h.Lane != "" && h.Event == Begun:
		beginTry(out, h.Lane, now)
	case h.Lane != "" && h.Event == Retried:
		i, undo := indexOf(h.Lane)
		runOf(&out.Status.Steps[i], undo).Execution = nil // the next try has another
	case h.Lane != "" && h.Event == TakenBack:
		i, _ := indexOf(h.Lane)
		if c, is := takenBack(in.World, &in.Obj.Status.Steps[i]); is {
			saveTakenBack(&out.Status.Steps[i], c, now)
		}
	}
}

func movedBy(p fsm.Pass, on fsm.Event) bool {
	return slices.ContainsFunc(p.Hops, func(h fsm.Hop) bool { return h.Lane == "" && h.Event == on })
}

func begin(steps []remediationv1.RemediationStep) (all []remediationv1.StepStatus) {
	for _, s := range steps {
		all = append(all, remediationv1.StepStatus{Name: s.Name})
	}
	return all
}

// beginTry counts a try, and saves the name of its execution before that is made.
func beginTry(out *remediationv1.RemediationRequest, name string, now metav1.Time) {
	i, undo := indexOf(name)
	r := runOf(&out.Status.Steps[i], undo)
	attempt := r.Attempt + 1
	*r = remediationv1.StepRun{
		Place: r.Place, Attempt: attempt, StartedAt: &now,
		Execution: &remediationv1.ChildRef{Name: ChildName(out.UID, out.Name, out.Spec.Steps[i].Name, attempt, undo)},
	}
}

func save(out *remediationv1.RemediationRequest, in input, why fsm.Reason, now metav1.Time) {
	if why == ReasonTargetsFound {
		out.Status.Targets = targetsOf(in.World.Looks)
		return
	}
	l, is := underWay(out)
	if !is {
		return
	}
	s := &out.Status.Steps[l.index]
	r := runOf(s, l.undo)
	switch why {
	case ReasonNaming:
		if child, is := in.World.child(l.run.childName()); is && child.Sight == presence.Here {
			r.Execution = &remediationv1.ChildRef{Name: child.Name, UID: child.UID}
		}
	case ReasonRecording:
		res, known := resultOf(step{Input: in}, l)
		if !known {
			return
		}
		r.EndedAt, r.Effect, r.Reason, r.Message = &now, res.effect, res.reason, fsm.Cut(res.message)
		if !l.undo {
			s.RollbackInformation = res.rollback.DeepCopy()
		}
	}
}

// targetsOf are the distinct targets of all steps, in the order in which they are reserved: by UID, the same for every
// request.
func targetsOf(looks []StepLook) (all []remediationv1.ReservedTarget) {
	for _, l := range looks {
		t := remediationv1.ReservedTarget{Kind: l.Reserves.Kind, Namespace: l.Reserves.Namespace, Name: l.Reserves.Name, UID: l.Reserves.UID}
		if !slices.ContainsFunc(all, func(o remediationv1.ReservedTarget) bool { return o.UID == t.UID }) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b remediationv1.ReservedTarget) int { return cmp.Compare(a.UID, b.UID) })
	return all
}

// stepsByChildren is what executions say about the steps of a request that lost its status: of each step the last try.
func stepsByChildren(steps []remediationv1.RemediationStep, children []Child, now metav1.Time) []remediationv1.StepStatus {
	all := begin(steps)
	for i := range all {
		for _, c := range children {
			if later := runOf(&all[i], c.Undo); c.Step != all[i].Name || later != nil && later.Attempt > c.Attempt {
				continue
			}
			if r := runByChild(c, now); c.Undo {
				all[i].Undo = &r
			} else {
				all[i].StepRun, all[i].RollbackInformation = r, c.Rollback.DeepCopy()
			}
		}
	}
	return all
}

func runByChild(c Child, now metav1.Time) remediationv1.StepRun {
	r := remediationv1.StepRun{
		Place: meta.Place{Phase: StepSucceeded, Since: now}, EndedAt: &now, Effect: c.Effect, Message: fsm.Cut(c.Message),
		Attempt: c.Attempt, Execution: &remediationv1.ChildRef{Name: c.Name, UID: c.UID},
	}
	if !c.succeeded() {
		r.Phase, r.Reason = StepFailed, c.Reason
	}
	return r
}

// summarise writes what columns show.
func summarise(out *remediationv1.RemediationRequest) {
	s := &out.Status
	if len(s.Steps) == 0 {
		return
	}
	done := 0
	for i := range s.Steps {
		if s.Steps[i].Attempt > 0 && !Ended(out) && s.Phase != RollingBack {
			s.CurrentStep = s.Steps[i].Name
		}
		if stands(&s.Steps[i]) && s.Steps[i].Reason == "" {
			done++
		}
	}
	if l, is := underWay(out); is {
		s.CurrentStep = l.step.Name
	}
	s.StepsCompleted = fmt.Sprintf("%d/%d", done, len(out.Spec.Steps))
}
