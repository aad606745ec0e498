package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/plan"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Evaluator asks a policy pack. What the pack or the question causes is an answer that denies; an error is that nobody
// could be asked.
type Evaluator interface {
	Evaluate(ctx context.Context, q policy.Question) (policy.Reply, error)
}

// Looker takes looks at what executions plan to change, with the rights of their actions.
type Looker struct {
	Live   read.Live
	Cached read.Reader
	May    read.May
	// As reads with the rights of the account of an action, and can do nothing else.
	As func(namespace, account string) (read.Live, error)
	// Try sends a change as a dry run with the rights of the account of an action.
	Try read.DryRun
	// Reserves finds what is reserved for a target.
	Reserves func(ctx context.Context, target *unstructured.Unstructured) (reserve.Ref, error)
	// Pack is the policy pack of this moment.
	Pack      func(context.Context) (policy.Pack, error)
	Evaluator Evaluator
	Namespace string // of the product
	Image     string // performs built-in actions
	Now       func() time.Time
}

// Take looks at everything that the plan of an execution depends on, in the order in which it is to be checked.
func (l Looker) Take(ctx context.Context, key read.Key) (execution.Look, error) {
	var x remediationv1.KubernetesExecution
	if err := l.Live.Get(ctx, key, &x); err != nil {
		return execution.Look{}, fmt.Errorf("read execution: %w", err)
	}
	d := plan.New(&x, l.Namespace, l.Image)
	labels, err := l.begin(ctx, &x, d)
	if err != nil {
		return execution.Look{}, err
	}
	if err := l.target(ctx, &x, d); err != nil {
		return execution.Look{}, err
	}
	if err := l.decide(ctx, &x, d, labels); err != nil {
		return execution.Look{}, err
	}
	if err := l.tryOut(ctx, &x, d); err != nil {
		return execution.Look{}, err
	}
	return d.Look(), nil
}

// tryOut sends the change as a dry run, if the policy wants that.
func (l Looker) tryOut(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft) error {
	if !d.NeedsDryRun() {
		return nil
	}
	patch, target := d.Patch()
	trial := read.Trial{Patch: patch, Delete: d.Change().Write == action.DeleteTarget, Grace: d.Change().Grace}
	said, err := l.Try(ctx, read.Key{Namespace: x.Namespace, Name: execution.DefinitionAccount(x.Spec.Action)}, target, trial)
	if err != nil {
		return err
	}
	d.DryRan(said.Refusal, said.Warnings)
	return nil
}

// Same says that two looks differ in nothing that a decision depends on.
func Same(a, b execution.Look) bool {
	a.State, b.State = nil, nil
	return reflect.DeepEqual(a, b)
}

// begin reads what is known before the target is: namespace, action, rights, account and what is taken back.
func (l Looker) begin(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft) (labels map[string]string, err error) {
	var ns corev1.Namespace
	if err := l.Live.Get(ctx, read.Key{Name: x.Namespace}, &ns); err != nil {
		return nil, fmt.Errorf("read namespace: %w", err)
	}
	d.Namespace(ns.Labels, ns.DeletionTimestamp != nil)
	var def remediationv1.ActionDefinition
	sight, err := read.Find(ctx, l.Live, read.Key{Name: remediationv1.DefinitionOf(x.Spec.Action)}, &def, nil)
	if err != nil {
		return nil, err
	}
	d.Define(sight, &def)
	if err := l.inverse(ctx, d, &def); err != nil {
		return nil, err
	}
	if err := l.rights(ctx, x, d); err != nil {
		return nil, err
	}
	if err := l.account(ctx, x, d, &def); err != nil {
		return nil, err
	}
	return ns.Labels, l.original(ctx, x, d)
}

// inverse reads the action that takes this one back, which may be the same.
func (l Looker) inverse(ctx context.Context, d *plan.Draft, def *remediationv1.ActionDefinition) error {
	name := d.InverseName()
	if name == "" || d.Stopped() {
		return nil
	}
	if name == def.Name {
		d.DefineInverse(presence.Here, def)
		return nil
	}
	var inverse remediationv1.ActionDefinition
	sight, err := read.Find(ctx, l.Live, read.Key{Name: name}, &inverse, nil)
	d.DefineInverse(sight, &inverse)
	return err
}

func (l Looker) rights(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft) error {
	var answers []plan.Right
	for _, a := range d.Access() {
		right := read.Right{Group: a.Group, Resource: a.Resource, Subresource: a.Subresource, Verb: a.Verb, Name: x.Spec.Target.Name, Namespace: x.Namespace}
		if d.Kind().Kind == "Node" {
			right.Namespace = ""
		}
		access, err := l.May(ctx, x.Spec.Requester, right)
		if err != nil {
			return err
		}
		answers = append(answers, plan.Right{Allowed: access.Allowed, Why: access.Why})
	}
	d.Rights(answers)
	return nil
}

// account sees that account and binding are those that the manager made for this very action.
func (l Looker) account(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft, def *remediationv1.ActionDefinition) error {
	if d.Stopped() {
		return nil
	}
	key := read.Key{Namespace: x.Namespace, Name: execution.DefinitionAccount(x.Spec.Action)}
	former := false // of an action that was defined anew: the collector removes what is left of it
	owned := func(o metav1.Object) bool {
		for _, ref := range o.GetOwnerReferences() {
			if ref.UID == def.UID {
				return true
			}
			former = former || ref.Kind == "ActionDefinition" && ref.Name == def.Name
		}
		return false
	}
	account, err := read.Find(ctx, l.Live, key, &corev1.ServiceAccount{}, func(a *corev1.ServiceAccount) bool { return owned(a) })
	if err != nil {
		return err
	}
	bound, err := read.Find(ctx, l.Live, key, &rbacv1.RoleBinding{}, func(b *rbacv1.RoleBinding) bool {
		return owned(b) && b.RoleRef.Name == def.Spec.ClusterRoleName
	})
	if err != nil {
		return err
	}
	if former {
		d.Wait(execution.ReasonAccountNotReady, "Waiting for the garbage collector to remove ServiceAccount %s, which is that of an action that was defined anew.", key.Name)
	}
	d.Account(account, bound)
	return nil
}

func (l Looker) original(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft) error {
	if x.Spec.RollbackOf == nil || d.Stopped() {
		return nil
	}
	var original remediationv1.KubernetesExecution
	sight, err := read.Find(ctx, l.Live, read.Key{Namespace: x.Namespace, Name: x.Spec.RollbackOf.Name}, &original, read.Is[*remediationv1.KubernetesExecution](x.Spec.RollbackOf.UID))
	d.Rollback(sight, &original, l.Now())
	if err != nil || !d.Covered() {
		return err
	}
	var others remediationv1.KubernetesExecutionList
	if err := l.Live.List(ctx, &others, read.InNamespace(x.Namespace)); err != nil {
		return fmt.Errorf("list executions that take %s back: %w", original.Name, err)
	}
	d.TakenBackBy(others.Items)
	return nil
}

// target reads the target with the rights of the action. A look at what an action has done needs it as well, so it is
// read although something else stands in the way.
func (l Looker) target(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft) error {
	kind := d.Kind()
	if kind.Kind == "" || d.Stopped() && x.Status.JobUID == "" {
		return nil
	}
	as, err := l.As(x.Namespace, execution.DefinitionAccount(x.Spec.Action))
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})
	key := read.Key{Namespace: x.Namespace, Name: x.Spec.Target.Name}
	if kind.Kind == "Node" {
		key.Namespace = ""
	}
	sight, err := read.Find(ctx, as, key, object, nil)
	if apierrors.IsForbidden(err) && d.Stopped() {
		// The account loses its rights with the action's definition. For the token the manager's own right to read will do:
		// nothing is planned by such a look.
		sight, err = read.Find(ctx, l.Live, key, object, nil)
	}
	switch {
	case apierrors.IsForbidden(err): // RBAC learns of a new binding within seconds
		d.Wait(execution.ReasonAccountNotReady, "Waiting for the API server to let %s read %s %s: its role must allow that.", execution.DefinitionAccount(x.Spec.Action), kind.Kind, key.Name)
		return nil
	case err != nil:
		return err
	}
	var reserves reserve.Ref
	if sight == presence.Here {
		if reserves, err = l.Reserves(ctx, object); err != nil {
			return err
		}
	}
	d.Target(sight, object.Object, reserves)
	return nil
}

// decide asks the policy pack.
func (l Looker) decide(ctx context.Context, x *remediationv1.KubernetesExecution, d *plan.Draft, labels map[string]string) error {
	after := x.Status.ExecutionResults != nil
	if d.Stopped() && !after || d.Kind().Kind == "" {
		return nil
	}
	pack, err := l.Pack(ctx)
	if err != nil {
		return err
	}
	executions, err := l.executions(ctx, x)
	if err != nil {
		return err
	}
	pods, err := l.pods(ctx, d.Object())
	if err != nil {
		return err
	}
	question := d.Question(pack, plan.Surroundings{NamespaceLabels: labels, Executions: executions, Pods: pods, Now: l.Now()}, after)
	reply, err := l.Evaluator.Evaluate(ctx, question)
	if err != nil {
		return fmt.Errorf("ask the policy pack: %w", err)
	}
	d.Decided(cmp.Or(reply.Pack, pack.Digest()), reply, after)
	return nil
}

// executions counts the others on the target and in the namespace.
func (l Looker) executions(ctx context.Context, x *remediationv1.KubernetesExecution) (e policy.Executions, err error) {
	var executing, same remediationv1.KubernetesExecutionList
	err = errors.Join(
		l.Cached.List(ctx, &executing, read.InNamespace(x.Namespace), read.Fields{ByExecuting: "true"}),
		l.Cached.List(ctx, &same, read.InNamespace(x.Namespace), read.Fields{ByTargetName: TargetName(x)}, read.Shared),
	)
	if err != nil {
		return e, fmt.Errorf("list executions: %w", err)
	}
	for i := range executing.Items {
		if other := &executing.Items[i]; other.UID != x.UID {
			e.InNamespace++
			if other.Spec.Target == x.Spec.Target {
				e.OnTarget++
			}
		}
	}
	last := time.Time{}
	for i := range same.Items {
		other := &same.Items[i]
		if other.UID != x.UID && execution.Ended(other) && other.Status.ExecutionResults != nil && other.Status.ExecutionResults.EndTime.After(last) {
			last = other.Status.ExecutionResults.EndTime.Time
		}
	}
	if !last.IsZero() {
		e.LastEnd = last.UTC().Format(time.RFC3339)
	}
	return e, nil
}
