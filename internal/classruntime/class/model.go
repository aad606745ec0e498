package class

import (
	"slices"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	w = w.clone()
	switch e := e.(type) {
	case Apply:
		for _, applied := range e.Children {
			w.apply(applied)
		}
	case Scale:
		w.scale(e)
	case RemoveOrphans:
		w.Orphans = slices.DeleteFunc(w.Orphans, func(o Ref) bool { return slices.Contains(e.Orphans, o) })
	}
	return w
}

func (w World) apply(a Target) {
	for i := range w.Functions {
		f := &w.Functions[i]
		for j := range f.Children {
			c := &f.Children[j]
			if f.Key != a.Function || !c.takes(a) {
				continue
			}
			changed := !c.Current
			c.Current, c.Edits = true, nil
			if c.UID == "" {
				c.UID = "u-" + c.Kind + "-" + c.Name
			}
			if c.Kind == KindDeployment && (f.handOver(a) || changed) {
				f.Rollout.Seen = false
			}
			if c.Kind == KindAutoscaler {
				f.Engines = append(f.Engines, Engine{Name: c.String(), Ours: true, Min: f.Floor})
				f.govern()
			}
		}
	}
}

// govern says of the replicas that an autoscaler sets them: the first that there is.
func (f *Function) govern() {
	if f.Replicas != nil && len(f.Engines) > 0 {
		field := *f.Replicas
		field.Engine = f.Engines[0].Name
		f.Replicas = &field
	}
}

// takes says that an apply reaches the child. That of a Deployment may be about who owns its replicas alone.
func (c Child) takes(a Target) bool {
	return c.Kind == a.Kind && !c.Foreign && c.Going == "" && (!c.Current || c.Kind == KindDeployment)
}

// handOver is what an apply of the Deployment makes of its replicas, and whether they change. One that is made has those of
// the spec.
func (f *Function) handOver(a Target) (changed bool) {
	field := ownership.Field{Live: f.Floor, Want: f.Floor}
	if f.Replicas != nil {
		field = f.field()
		field.Retake = a.Retake
	}
	was := field.Live
	field, err := field.PerformAll(ownership.Decide(field))
	if err != nil {
		panic(err) // a decision that the API server refuses
	}
	field.Retake, field.Lane = false, nil
	changed = f.Replicas == nil || field.Live != was
	f.Replicas, f.Rollout.Desired = &field, field.Live
	return changed
}

// scale sets replicas as a lane has decided, unless they are another number by now.
func (w World) scale(e Scale) {
	for i := range w.Functions {
		f := &w.Functions[i]
		if f.Key != e.Function || f.Replicas == nil || f.Replicas.Live != e.From {
			continue
		}
		field := *f.Replicas
		field.Lane, field.Retake = &e.To, e.Retake
		field, err := field.PerformAll(ownership.Decide(field))
		if err != nil {
			panic(err) // a decision that the API server refuses
		}
		field.Lane, field.Retake = nil, false
		f.Replicas, f.Rollout.Desired, f.Rollout.Seen = &field, field.Live, false
	}
}

// Settle is what others do meanwhile: the controller of Deployments replaces pods, and kubelets start them.
func Settle(_ *runtimev1.ClassRuntime, w World) World {
	w = w.clone()
	for i := range w.Functions {
		f := &w.Functions[i]
		f.lose()
		if !f.has(KindDeployment) || f.Rollout.Seen {
			continue
		}
		n := f.Rollout.Desired
		f.Rollout = Rollout{Seen: true, Desired: n, Total: n, Updated: n, Ready: n, Available: n}
		f.Pods = nil
		for j := range n {
			f.Pods = append(f.Pods, Pod{Name: f.Name + "-" + string('a'+j%26), Ready: true})
		}
	}
	return w
}

// lose lets children go that are going.
func (f *Function) lose() {
	for i, c := range f.Children {
		if c.Going == "" {
			continue
		}
		f.Children[i] = Child{Ref: Ref{Kind: c.Kind, Name: c.Name}}
		if c.Kind == KindDeployment {
			f.Rollout, f.Pods, f.Replicas = Rollout{}, nil, nil
		}
	}
}

func (w World) clone() World {
	w.Functions, w.Orphans = slices.Clone(w.Functions), slices.Clone(w.Orphans)
	for i := range w.Functions {
		w.Functions[i].Children = slices.Clone(w.Functions[i].Children)
		w.Functions[i].Pods = slices.Clone(w.Functions[i].Pods)
		w.Functions[i].Engines = slices.Clone(w.Functions[i].Engines)
		if field := w.Functions[i].Replicas; field != nil {
			cloned := *field
			w.Functions[i].Replicas = &cloned
		}
	}
	return w
}
