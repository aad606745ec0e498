package class

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
)

// outdated are the children of a function that are to be applied: each is missing, was built otherwise, was edited, or has a
// number of replicas that is to be another. A child that is fought over is left alone for a while.
func outdated(in input, f Function) (all []Target) {
	for _, c := range f.Children {
		if c.Going != "" {
			continue
		}
		t := Target{Function: f.Key, Ref: c.Ref, Corrects: c.Edits}
		acts := !c.Current
		if c.Kind == KindDeployment && f.Replicas != nil && !c.Foreign {
			field := f.replicas(in)
			t.Retake = field.Retake
			if field.Lane != nil {
				t.Lane = &f.Floor
			}
			acts = acts || field.Acts(ownership.Decide(field))
		}
		if acts && !f.scaledByAnother(c) && !isPaused(in, t) {
			all = append(all, t)
		}
	}
	return all
}

// replicas is whose the number of a function's replicas is, as a person may have asked for it.
func (f Function) replicas(in input) ownership.Field {
	field := f.field()
	field.Retake = f.retakes(in)
	return field
}

// scaledByAnother says that a child is an autoscaler that is not there yet, and another scales the function already: Kubernetes
// obeys neither of two. Where the name itself is taken, that is told instead.
func (f Function) scaledByAnother(c Child) bool {
	if c.Kind != KindAutoscaler || c.UID != "" || c.Foreign {
		return false
	}
	for _, e := range f.Engines {
		if !e.Ours {
			return true
		}
	}
	return false
}

// going is a child that can be applied only when what has its name is gone.
func (f Function) going() (words string, is bool) {
	for _, c := range f.Children {
		if c.Going != "" {
			return fmt.Sprintf("Waiting for %s to be gone: %s. It is made anew then.", c.Ref, c.Going), true
		}
	}
	return "", false
}

func (w World) going() (words string, is bool) {
	for _, f := range w.Functions {
		if words, is := f.going(); is {
			return words, true
		}
	}
	return "", false
}

// behind says that there is something to do for children to be as the spec asks for.
func behind(in input) bool {
	for _, f := range in.World.Functions {
		if f.Invalid != "" || len(outdated(in, f)) > 0 {
			return true
		}
	}
	_, going := in.World.going()
	return going || len(in.World.Orphans) > 0
}

// whatIsBehind says in a sentence what is not as the spec asks for.
func whatIsBehind(in input) string {
	var refs []Ref
	for _, f := range in.World.Functions {
		if f.Invalid != "" {
			return f.Invalid
		}
		refs = append(refs, refsOf(outdated(in, f))...)
	}
	if len(refs) > 0 {
		return fmt.Sprintf("The spec was edited, or others changed children: %s.", some(refs))
	}
	if words, is := in.World.going(); is {
		return words
	}
	return fmt.Sprintf("No function has these children any more: %s.", some(in.World.Orphans))
}

func refsOf(targets []Target) (refs []Ref) {
	for _, t := range targets {
		refs = append(refs, t.Ref)
	}
	return refs
}
