package class

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// quiet is for how long numbers that move during a rollout are written only together with a move: they are not worth a
// write each.
const quiet = 10 * time.Second

// untilTold is how long numbers are kept back in a phase; 0 is that they are not.
func untilTold(in input) time.Duration {
	return max(0, in.Obj.Status.Since.Add(quiet).Sub(in.Now))
}

// report copies what was seen into the status. What was not seen stays.
func report(out *runtimev1.ClassRuntime, in input, p fsm.Pass) {
	w, s := in.World, &out.Status
	if !w.Looked {
		return
	}
	noteContested(out, in, p.Outcomes)
	noteEnforcement(out, in, p.Outcomes)
	t := triedIn(p.Outcomes)
	moved := s.Phase != in.Obj.Status.Phase
	rolling := s.Phase == Pending || s.Phase == Applying || s.Phase == Progressing
	wait := rolling && !moved && len(t.refused) == 0 && untilTold(in) > 0
	noteServing(out, in, wait)
	if wait {
		return
	}
	s.Template = string(spec.TemplateOf(in.Obj).Name)
	s.Functions = functions(in, s.Phase, t)
	ready := 0
	for _, f := range s.Functions {
		if f.Ready {
			ready++
		}
	}
	s.ReadyFunctions = fmt.Sprintf("%d/%d", ready, len(s.Functions))
	s.ResourceRefs = refs(w)
	noteRecommendations(out, in)
}

// noteServing tells whether functions answer. That they do not any more is told at once; good news, and other words,
// wait with the numbers.
func noteServing(out *runtimev1.ClassRuntime, in input, wait bool) {
	c := serving(in.World)
	was := apimeta.FindStatusCondition(out.Status.Conditions, c.Type)
	if wait && was != nil && was.Status != metav1.ConditionUnknown && (c.Status == was.Status || c.Status == metav1.ConditionTrue) {
		return
	}
	c.ObservedGeneration, c.LastTransitionTime = out.Generation, metav1.NewTime(in.Now.Truncate(time.Second))
	apimeta.SetStatusCondition(&out.Status.Conditions, c)
}

// functions are those of the spec, by key.
func functions(in input, phase fsm.Phase, t tried) (all []runtimev1.FunctionStatus) {
	for _, f := range in.World.Functions {
		s := runtimev1.FunctionStatus{Key: f.Key, Name: f.Name, Service: f.Service, Port: f.Port, Engine: f.Engine}
		s.Replicas = f.numbers(in)
		if f.Service != "" {
			s.PredictedURL = spec.URL(in.Obj.Namespace, f.Service, f.Port)
			if f.has(KindService) && s.Replicas.Ready > 0 {
				s.ObservedURL = s.PredictedURL
			}
		}
		s.Ready, s.Reason, s.Message = judge(in, f, t)
		if phase == Available && f.stays() && s.Reason == ReasonWaiting {
			s.Ready, s.Reason, s.Message = true, "", ""
		}
		all = append(all, s)
	}
	return all
}

// numbers are the replicas of a function, and whose they are. Another number, or another owner, overrides the spec anew.
func (f Function) numbers(in input) runtimev1.FunctionReplicas {
	n := runtimev1.FunctionReplicas{Desired: f.Rollout.Desired, Ready: f.answering()}
	owner, overridden := f.owner()
	n.Owner = owner
	if !overridden {
		return n
	}
	since := metav1.NewTime(in.Now.Truncate(time.Second))
	n.Asked, n.OverriddenSince = &f.Replicas.Want, &since
	if was := functionStatus(in.Obj, f.Key).Replicas; was.OverriddenSince != nil && was.Owner == owner && was.Desired == n.Desired {
		n.OverriddenSince = was.OverriddenSince
	}
	return n
}

// judge says whether a function is ready, and if not, why.
func judge(in input, f Function, t tried) (ready bool, why fsm.Reason, words string) {
	if f.Invalid != "" {
		return false, ReasonApplyInvalid, f.Invalid
	}
	if r, is := t.refused[f.Key]; is {
		return false, r.Reason, fsm.Cut(r.Message)
	}
	if refs := refsOf(outdated(in, f)); len(refs) > 0 {
		if was, is := wasRefused(in.Obj, f.Key); is && !t.acted { // what it was refused for stands until the next try
			return false, was.Reason, was.Message
		}
		return false, ReasonApplying, fmt.Sprintf("The manager applies %s.", some(refs))
	}
	if words, is := f.going(); is {
		return false, ReasonApplying, fsm.Cut(words)
	}
	if v, is := crashes(f, in.Now); is {
		return false, v.reason, fsm.Cut(v.message)
	}
	if f.becomes() {
		return true, "", ""
	}
	v := cause(in.Obj, f)
	return false, v.reason, fsm.Cut(v.message)
}

// has says that a child exists and is ours.
func (f Function) has(kind string) bool {
	return slices.ContainsFunc(f.Children, func(c Child) bool { return c.Kind == kind && c.UID != "" && !c.Foreign })
}

// mostRefs is how many references a status may have.
const mostRefs = 512

// refs are the children that exist, in order, as many as the status takes.
func refs(w World) (all []runtimev1.ResourceRef) {
	for _, f := range w.Functions {
		for _, c := range f.Children {
			if c.UID != "" && !c.Foreign {
				all = append(all, runtimev1.ResourceRef{Kind: c.Kind, Name: c.Name})
			}
		}
	}
	for _, o := range w.Orphans {
		all = append(all, runtimev1.ResourceRef{Kind: o.Kind, Name: o.Name})
	}
	slices.SortFunc(all, func(a, b runtimev1.ResourceRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), mostRefs)]
}
