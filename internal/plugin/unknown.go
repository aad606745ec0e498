package plugin

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	kx "github.com/statecraft-dev/statecraft/internal/remediation/explain"
)

// unknown collects what a person can look at of an execution whose outcome is not known. What may not be read is said.
func (d *Decider) unknown(ctx context.Context, x *remediationv1.KubernetesExecution, ref remediationv1.ExecutionRef, m marks) kx.Unknown {
	u := kx.Unknown{Namespace: d.namespace, Ref: ref, Execution: x}
	if x != nil && x.Spec.Requester != nil {
		u.Requester = x.Spec.Requester.Username
	}
	if m.unseen != "" {
		u.Unseen = append(u.Unseen, m.unseen)
	}
	var target objectRef
	for _, mark := range m.found {
		if mark.by.UID != ref.UID {
			continue
		}
		u.Requester = mark.requester
		u.Marked, u.Since = append(u.Marked, mark.target), metav1.NewTime(mark.at)
		target = objectRef{mark.target.GroupKind(), mark.target.Namespace, mark.target.Name}
	}
	if x != nil && x.Status.Plan != nil {
		planned := x.Status.Plan.Target
		target = objectRef{schema.FromAPIVersionAndKind(planned.APIVersion, planned.Kind).GroupKind(), x.Namespace, planned.Name}
	}
	var unseen string
	if u.Target, unseen = d.object(ctx, target); unseen != "" {
		u.Unseen = append(u.Unseen, unseen)
	}
	pods, err := d.typed.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.Set{remediationv1.ExecutionLabel: string(ref.UID)}.String(),
	})
	if err != nil {
		u.Unseen = append(u.Unseen, hidden(err, "pods", d.namespace, ", and a pod of the action on a silent node may still write")+
			fmt.Sprintf(" A person who may looks: kubectl get pods -n %s -l %s=%s.", d.namespace, remediationv1.ExecutionLabel, ref.UID))
		return u
	}
	u.Pods = pods.Items
	return u
}

// objectRef names an object that the product knows by its kind and name alone.
type objectRef struct {
	kind            schema.GroupKind
	namespace, name string
}

// object reads any object, or says why it did not.
func (d *Decider) object(ctx context.Context, ref objectRef) (obj *unstructured.Unstructured, unseen string) {
	if ref.name == "" {
		return nil, "Neither the execution nor a mark says what the target is."
	}
	mapping, err := d.mapper.RESTMapping(ref.kind)
	if err != nil {
		return nil, fmt.Sprintf("The cluster has no kind %s any more, so its %s was not looked at.", ref.kind.Kind, ref.name)
	}
	where := "-n " + ref.namespace
	if mapping.Scope.Name() == apimeta.RESTScopeNameRoot {
		ref.namespace, where = "", ""
	}
	obj, err = d.objects.Resource(mapping.Resource).Namespace(ref.namespace).Get(ctx, ref.name, metav1.GetOptions{})
	switch {
	case err == nil:
		return obj, ""
	case apierrors.IsNotFound(err):
		return nil, fmt.Sprintf("There is no %s %s any more: the target is gone.", ref.kind.Kind, ref.name)
	case apierrors.IsForbidden(err):
		return nil, fmt.Sprintf("You may not read %s %s. Look at it together with a person who may: kubectl get %s %s %s -o yaml --show-managed-fields.",
			ref.kind.Kind, ref.name, mapping.Resource.Resource, ref.name, where)
	}
	return nil, fmt.Sprintf("%s %s could not be read: %v.", ref.kind.Kind, ref.name, err)
}
