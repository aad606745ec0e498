package observe

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// existing are the objects that the class controls, by kind and name.
type existing map[string]child.Object

type objectList interface {
	metav1.ListInterface
	runtime.Object
}

// existing lists the children that bear the name of the class and are its own. A list that failed is never an empty
// one: what is not there is made, and what is too much is deleted.
func (o Class) existing(ctx context.Context, c *runtimev1.ClassRuntime) (existing, error) {
	there := existing{}
	for _, list := range []objectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &autoscalingv2.HorizontalPodAutoscalerList{}, &policyv1.PodDisruptionBudgetList{},
	} {
		if err := o.Cached.List(ctx, list, read.InNamespace(c.Namespace), read.Fields{ByClass: c.Name}); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
		err := apimeta.EachListItem(list, func(obj runtime.Object) error {
			there.add(c, obj.(child.Object))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read %T: %w", list, err)
		}
	}
	return there, nil
}

func (e existing) add(c *runtimev1.ClassRuntime, obj child.Object) {
	if child.OwnedBy(obj, c.UID) {
		e[spec.KindOf(obj)+"/"+obj.GetName()] = obj
	}
}

func (e existing) deployment(name string) *appsv1.Deployment {
	d, _ := e[class.KindDeployment+"/"+name].(*appsv1.Deployment)
	return d
}

// orphans are children that no function has. One that goes already needs no more.
func (e existing) orphans(wanted map[string]bool) (orphans []class.Ref) {
	for key, obj := range e {
		if !wanted[key] && obj.GetDeletionTimestamp() == nil {
			orphans = append(orphans, ref(obj))
		}
	}
	slices.SortFunc(orphans, func(a, b class.Ref) int { return strings.Compare(a.String(), b.String()) })
	return orphans
}

func ref(obj child.Object) class.Ref {
	return class.Ref{Kind: spec.KindOf(obj), Name: obj.GetName(), UID: string(obj.GetUID()), Version: obj.GetResourceVersion()}
}

// child compares what should exist with what does. One that the cache lacks is read live: anybody can remove a label,
// and the name may be another's.
func (o Class) child(ctx context.Context, c *runtimev1.ClassRuntime, want child.Object, there existing) (class.Child, error) {
	key := spec.KindOf(want) + "/" + want.GetName()
	is, found := there[key]
	if !found {
		is = spec.Blank(spec.KindOf(want), "", "")
		state, err := read.Find(ctx, o.Live, read.Key{Namespace: c.Namespace, Name: want.GetName()}, is, func(obj child.Object) bool { return child.OwnedBy(obj, c.UID) })
		if err != nil || state != presence.Here {
			one := class.Child{Ref: class.Ref{Kind: spec.KindOf(want), Name: want.GetName()}}
			if state == presence.Other {
				one.Going = child.Going(is, metav1.GetControllerOf(want))
				one.Foreign = one.Going == ""
			}
			return one, err
		}
		there[key] = is
	}
	// The version is not told: it changes with every status, and nothing is decided upon it.
	one := class.Child{Ref: class.Ref{Kind: spec.KindOf(is), Name: is.GetName(), UID: string(is.GetUID())}}
	if one.Going = child.Going(is, nil); one.Going != "" {
		return one, nil
	}
	state, err := o.Children.State(ctx, withoutReplicas(want), is)
	one.Current = state.Stamped && len(state.Edits) == 0
	for _, e := range state.Edits {
		one.Edits = append(one.Edits, class.Edit{Field: e.Field.String(), By: e.By})
	}
	return one, err
}

// withoutReplicas leaves out what has owners of its own: replicas that others set are no edit.
func withoutReplicas(want child.Object) child.Object {
	d, is := want.(*appsv1.Deployment)
	if !is {
		return want
	}
	d = d.DeepCopy()
	d.Spec.Replicas = nil
	return d
}

// ownerOf is the UID of the object that controls obj.
func ownerOf(obj metav1.Object) string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return string(owner.UID)
	}
	return ""
}

// podNamed is how the API server begins what it says about a pod that was not created: the name is another with
// every try, and must not lead to a write of status each time.
var podNamed = regexp.MustCompile(`^pods "[^"]*" is forbidden: `)

const longest = 400

func steady(message string) string {
	message = podNamed.ReplaceAllString(strings.TrimSpace(message), "")
	if len(message) > longest {
		message = strings.ToValidUTF8(message[:longest], "") + "…"
	}
	return message
}
