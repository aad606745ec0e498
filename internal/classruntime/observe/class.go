// Package observe reads the world of a class: its children, and the pods of its Deployments. It is handed
// readers only.
package observe

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// ByClass is the index of children and pods by the class that their label names: a namespace may have many
// classes, and every pass of each reads some.
const ByClass = "class"

// Class observes a ClassRuntime.
type Class struct {
	Cached   read.Reader
	Live     read.Live
	Children read.Children
	Sources  Sources
}

// Observe reads everything that a decision about the class may look at.
func (o Class) Observe(ctx context.Context, c *runtimev1.ClassRuntime) (class.World, error) {
	there, err := o.existing(ctx, c)
	if err != nil {
		return class.World{}, err
	}
	pods, err := o.pods(ctx, c)
	if err != nil {
		return class.World{}, err
	}
	functions := spec.Functions(c)
	if err := o.withoutDouble(ctx, c, functions); err != nil {
		return class.World{}, err
	}
	w := class.World{}
	wanted := map[string]bool{}
	for _, f := range functions {
		seen, err := o.function(ctx, c, f, there)
		if err != nil {
			return class.World{}, err
		}
		if d := there.deployment(f.Name); d != nil {
			seen.Rollout, seen.Pods = rollout(d), pods.of(d)
		}
		for _, obj := range f.Children() {
			wanted[spec.KindOf(obj)+"/"+obj.GetName()] = true
		}
		if f.Invalid != "" { // what runs of a function that cannot be built any more goes on running
			for _, kind := range spec.Kinds {
				wanted[kind+"/"+f.Name] = true
			}
		}
		w.Functions = append(w.Functions, seen)
	}
	w.Orphans = there.orphans(wanted)
	w.Looked = true
	return w, nil
}

// function compares what a function should have with what it has.
func (o Class) function(ctx context.Context, c *runtimev1.ClassRuntime, f spec.Function, there existing) (class.Function, error) {
	seen := class.Function{Key: f.Key, Name: f.Name, Invalid: f.Invalid, Floor: f.Floor, Engine: string(f.Engine)}
	seen.Measured, seen.Enforced = o.measured(c, f), spec.ModeOf(c) == runtimev1.ModeEnforce
	if f.Service != nil {
		seen.Service, seen.Port = f.Service.Name, f.Service.Spec.Ports[0].Port
	}
	for _, want := range f.Children() {
		one, err := o.child(ctx, c, want, there)
		if err != nil {
			return seen, err
		}
		seen.Children = append(seen.Children, one)
	}
	var err error
	if seen.Engines, err = o.engines(ctx, c, f.Name); err != nil {
		return seen, err
	}
	if d := there.deployment(f.Name); d != nil && f.Deployment != nil {
		seen.Replicas, err = o.replicas(ctx, c, f, d, seen.Engines)
	}
	return seen, err
}

// rollout is what the controller of a Deployment says about it.
func rollout(d *appsv1.Deployment) class.Rollout {
	s := d.Status
	r := class.Rollout{
		Seen: s.ObservedGeneration >= d.Generation, Desired: ptr.Deref(d.Spec.Replicas, 1),
		Paused: d.Spec.Paused, Total: s.Replicas, Updated: s.UpdatedReplicas, Ready: s.ReadyReplicas, Available: s.AvailableReplicas,
	}
	for _, c := range s.Conditions {
		switch {
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == "True":
			r.Refused = steady(c.Message)
			r.RefusedSince = max(0, c.LastTransitionTime.Unix()) // without a time it is the year one
		case c.Type == appsv1.DeploymentProgressing && c.Status == "False" && c.Reason == "ProgressDeadlineExceeded":
			r.Stuck = true
		}
	}
	return r
}
