package class

import (
	"fmt"
	"strings"
)

// conflictingEngines says that a function has two autoscalers, or would have: Kubernetes then obeys neither, and
// only their own status says so. One that another owner has made is never changed.
func conflictingEngines(f Function) (v verdict, is bool) {
	for _, e := range f.Engines {
		switch {
		case e.Ours:
		case f.asksForEngine():
			return verdict{reason: ReasonEngineConflict, message: fmt.Sprintf(
				"%s of another owner scales Deployment %s, and the spec asks for an autoscaler of its own; Kubernetes obeys neither of two. Delete that one, or set scaling.engine of function %s to none.",
				e.Name, f.Name, f.Key)}, true
		case len(f.Engines) > 1:
			return verdict{reason: ReasonEngineConflict, message: fmt.Sprintf(
				"%s and %s both scale Deployment %s; Kubernetes obeys neither of two. Delete one of them.", f.Engines[0].Name, f.Engines[1].Name, f.Name)}, true
		}
	}
	return v, false
}

// governor is the autoscaler that sets the replicas: none sets those of a function that has none.
func (f Function) governor() (e Engine, is bool) {
	if len(f.Engines) == 0 || f.Replicas != nil && f.Replicas.Live == 0 {
		return e, false
	}
	return f.Engines[0], true
}

// asksForEngine says that the spec asks for an autoscaler.
func (f Function) asksForEngine() bool {
	for _, c := range f.Children {
		if c.Kind == KindAutoscaler {
			return true
		}
	}
	return false
}

// blindEngine says that an autoscaler does not scale, and why. The function has at least the replicas that it had, so it
// is no failure.
func blindEngine(w World) (v verdict, is bool) {
	for _, f := range w.Functions {
		if v, is := f.blindEngine(); is {
			return v, true
		}
	}
	return v, false
}

func (f Function) blindEngine() (v verdict, is bool) {
	for _, e := range f.Engines {
		if e.Blind != "" {
			return verdict{reason: ReasonEngineBlind, message: fmt.Sprintf("%s does not scale Deployment %s: %s.", e.Name, f.Name, strings.TrimRight(e.Blind, "."))}, true
		}
	}
	return v, false
}
