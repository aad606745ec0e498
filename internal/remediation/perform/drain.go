package perform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// drain is a drain that has begun: its node is cordoned and bears the token started.
type drain struct {
	*attempt
	change  action.Change
	evicted []action.Pod
	// asked are pods whose eviction was taken; lost are those of which no answer came.
	asked, lost map[types.UID]bool
	why         map[types.UID]string // the last answer about a pod that was not evicted
	left        []string             // what is still on the node, in words
	warnings    []string
}

// hasBegun says that the node bears the token of a drain whose first answer was lost.
func (a *attempt) hasBegun(node map[string]any) bool {
	live := unstructured.Unstructured{Object: node}
	return a.pending != nil && a.pending.change.Write == action.DrainTarget && live.GetUID() == a.command.Target.UID &&
		action.ReadToken(node, a.command.Execution) == action.Started
}

// mayBegin looks whether the pods of the node may all be evicted, before anything is written.
func (a *attempt) mayBegin(ctx context.Context) (*action.Report, bool) {
	within, cancel := context.WithTimeout(ctx, a.patience.Read)
	defer cancel()
	all, err := a.object.Pods(within)
	switch {
	case err != nil && answerOf(err) == refused:
		return a.refused(err), false
	case err != nil:
		a.last = err
		return nil, false
	}
	refusals := action.Depart(all, a.command.Parameters).Refused
	switch {
	case len(refusals) == 0:
		return nil, true
	case a.pending != nil: // an earlier try may have begun
		a.last = errors.New(first20(refusals))
		return nil, false
	}
	return a.failed(fmt.Sprintf("Nothing was done, because %d pods of %s may not be evicted: %s.", len(refusals), a.target(), first20(refusals))), false
}

// evict empties the node. It stops when the time is over, and when the node is not as the action left it:
// a person who lets pods onto it again wants it to stop.
func (a *attempt) evict(ctx context.Context, change action.Change, warnings []string) *action.Report {
	d := &drain{attempt: a, change: change, warnings: warnings, asked: map[types.UID]bool{}, lost: map[types.UID]bool{}, why: map[types.UID]string{}}
	a.pending, a.last = nil, nil
	for {
		stopped, done := d.round(ctx)
		switch {
		case stopped != "":
			return d.incomplete(stopped)
		case done:
			return d.finish(ctx)
		case !wait(ctx, a.patience.Evict):
			return d.incomplete("its time was over, or it was told to stop")
		}
	}
}

// round looks at the node and its pods once, and evicts those that are to go.
func (d *drain) round(ctx context.Context) (stopped string, done bool) {
	within, cancel := context.WithTimeout(ctx, d.patience.Read)
	defer cancel()
	node, err := d.object.Get(within)
	switch {
	case apierrors.IsNotFound(err):
		return "the node is gone", false
	case err != nil:
		d.note(ctx, err)
		return "", false
	case !d.isOurs(node):
		return "another client has changed the node since", false
	}
	all, err := d.object.Pods(within)
	if err != nil {
		d.note(ctx, err)
		return "", false
	}
	next := action.Depart(all, d.command.Parameters)
	d.left = next.Refused
	for _, pod := range next.Await {
		d.left = append(d.left, pod.String()+" has not ended yet")
	}
	for _, pod := range next.Evict {
		if ctx.Err() == nil && !d.asked[pod.UID] {
			d.send(ctx, pod)
		}
		d.left = append(d.left, strings.TrimSpace(pod.String()+" "+d.why[pod.UID]))
	}
	if len(next.Evict)+len(next.Await) > 0 {
		return "", false
	}
	if len(next.Refused) > 0 {
		return "pods that may not be evicted have come since", false
	}
	return "", true
}

// note keeps the last answer that is one of the API server.
func (d *drain) note(ctx context.Context, err error) {
	if ctx.Err() == nil {
		d.last = err
	}
}

// isOurs says that the node is the one that was approved, and as this drain left it.
func (d *drain) isOurs(node map[string]any) bool {
	live := unstructured.Unstructured{Object: node}
	is, err := action.ReadOf(d.command.Action, node, d.command.Parameters)
	return err == nil && live.GetUID() == d.command.Target.UID && is.Hash == d.change.After.Hash &&
		action.ReadToken(node, d.command.Execution) == action.Started
}

// send asks for the eviction of one very pod. A budget that does not allow it is asked again. An
// eviction that was begun is finished, as every write is.
func (d *drain) send(ctx context.Context, pod action.Pod) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.patience.Write)
	defer cancel()
	// What would be lost is a pod with all that it keeps to itself. Another pod of its name has another UID.
	err := d.object.Evict(within, pod, d.change.Grace)
	switch answerOf(err) {
	case taken:
		d.evicted, d.asked[pod.UID] = append(d.evicted, pod), true
		d.why[pod.UID] = "has not ended yet"
	case changed: // it is gone, or another has its name: the next round sees which
	case lost:
		d.lost[pod.UID] = true
		d.why[pod.UID] = notEvicted(err)
	case refused, busy:
		d.why[pod.UID] = notEvicted(err)
	}
}

func notEvicted(err error) string { return "is not evicted: " + strings.TrimRight(err.Error(), ".") }

// finish leaves the token done on the node.
func (d *drain) finish(ctx context.Context) *action.Report {
	r := d.report()
	for {
		stored, err := d.sign(ctx)
		switch {
		case err == nil:
			r.Token = action.Token(d.command.Execution, action.Done)
			if after, err := action.ReadOf(d.command.Action, stored, d.command.Parameters); err == nil {
				r.After = after.Hash
			}
			return r
		case answerOf(err) == refused, apierrors.IsNotFound(err), !wait(ctx, d.patience.Conflict):
			r.Warnings = append(r.Warnings, "All pods were evicted, but the node does not say so: "+err.Error())
			return r
		}
	}
}

func (d *drain) sign(ctx context.Context) (map[string]any, error) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.patience.Read)
	defer cancel()
	node, err := d.object.Get(within)
	if err != nil {
		return nil, err
	}
	version := (&unstructured.Unstructured{Object: node}).GetResourceVersion()
	stored, _, err := d.object.Patch(within, action.Preconditioned(action.WithToken(nil, d.command.Execution, action.Done), d.command.Target.UID, version))
	return stored, err
}

// report says which pods were evicted.
func (d *drain) report() *action.Report {
	r := &action.Report{
		Effect: remediationv1.EffectApplied, Token: action.Token(d.command.Execution, action.Started), Warnings: d.warnings,
		Affected: int32(min(len(d.evicted)+1, 1<<20)), // the node is one
	}
	for _, pod := range d.evicted[:min(len(d.evicted), 20)] {
		r.Resources = append(r.Resources, remediationv1.ResourceAffected{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Action: "evicted"})
	}
	unknown := 0
	for uid := range d.lost {
		if !d.asked[uid] {
			unknown++
		}
	}
	if unknown > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d more pods may have been evicted: the answers of the API server were lost.", unknown))
	}
	return r
}

// incomplete reports a drain that was not finished. The node was changed, so that is Applied; and it is
// not what was asked for, so it has a reason. The token stays started.
func (d *drain) incomplete(why string) *action.Report {
	r := d.report()
	r.Reason = action.ReasonIncomplete
	if d.last != nil {
		why += "; the last answer was: " + d.last.Error()
	}
	r.Error = fmt.Sprintf("%s is cordoned and %d of its pods were evicted, and then the action ended, because %s.", d.target(), len(d.evicted), why)
	if len(d.left) > 0 {
		r.Error += fmt.Sprintf(" %d pods are left: %s.", len(d.left), first20(d.left))
	}
	return r
}

// first20 are the first of many, in words.
func first20(all []string) string {
	const most = 20
	if len(all) <= most {
		return strings.Join(all, "; ")
	}
	return strings.Join(all[:most], "; ") + "; …"
}
