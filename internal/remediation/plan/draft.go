package plan

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Draft becomes a plan, step by step. Once something stands in the way, the other steps do nothing.
type Draft struct {
	x       *remediationv1.KubernetesExecution
	product string // the namespace of the product
	image   string // of the program that performs built-in actions

	definition *remediationv1.ActionDefinition
	inverse    *remediationv1.ActionDefinition // of the action that takes this one back; nil if there is none
	kind       remediationv1.TargetKind
	params     action.Params
	original   *remediationv1.KubernetesExecution
	covered    string
	object     map[string]any
	absent     bool // no object has the name of the target
	change     action.Change
	result     remediationv1.ValidationResults
	decision   remediationv1.PolicyDecision

	look    execution.Look
	stopped bool
}

// New begins a plan. Image performs built-in actions.
func New(x *remediationv1.KubernetesExecution, product, image string) *Draft {
	return &Draft{x: x, product: product, image: image, kind: released(x), look: execution.Look{UID: x.UID}}
}

// released is the kind of the target of an execution whose Job may have run, as it was planned: the token on the target
// is a witness, also when the action has been removed from the catalogue since.
func released(x *remediationv1.KubernetesExecution) remediationv1.TargetKind {
	if x.Status.JobUID == "" || x.Status.Plan == nil {
		return remediationv1.TargetKind{}
	}
	t := x.Status.Plan.Target
	gvk := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
	return remediationv1.TargetKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
}

// Stopped says that something stands in the way, and nothing else need be read.
func (d *Draft) Stopped() bool { return d.stopped }

// Kind is the kind of the target, once the action is defined, or was planned and may have been done.
func (d *Draft) Kind() remediationv1.TargetKind { return d.kind }

// Access are the rights that the requester needs on the target, once the action is defined.
func (d *Draft) Access() []remediationv1.Access {
	if d.definition == nil {
		return nil
	}
	return d.definition.Spec.Access
}

// Object is the target as it was read; nil if it was not.
func (d *Draft) Object() map[string]any { return d.object }

// Change is what would be done to the target, once that was read.
func (d *Draft) Change() action.Change { return d.change }

func (d *Draft) stop(outcome execution.Outcome, reason fsm.Reason, message string) {
	if !d.stopped {
		d.stopped = true
		d.look.Outcome, d.look.Reason, d.look.Message = outcome, reason, message
	}
}

func (d *Draft) refuse(reason fsm.Reason, format string, args ...any) {
	d.stop(execution.Refused, reason, fmt.Sprintf(format, args...))
}

// Wait stops a look for something that passes.
func (d *Draft) Wait(reason fsm.Reason, format string, args ...any) {
	d.stop(execution.Waiting, reason, fmt.Sprintf(format, args...))
}

// Namespace looks whether actions may run in the namespace of the execution. In one that is being deleted nothing can be made any
// more, and admission keeps an execution that is executing: one that waited there would keep the whole namespace.
func (d *Draft) Namespace(labels map[string]string, deleted bool) {
	switch ns := d.x.Namespace; {
	case ns == d.product:
		d.refuse(execution.ReasonAccessDenied, "Actions do not run in namespace %s, which is that of the product.", ns)
	case deleted:
		d.refuse(execution.ReasonTargetChanged, "Namespace %s is being deleted, and its objects with it.", ns)
	case labels[remediationv1.EnabledLabel] != "true":
		d.refuse(execution.ReasonAccessDenied, "Actions are not enabled in namespace %s: a user with the verb enable on kubernetesexecutions there labels it %s=true.",
			ns, remediationv1.EnabledLabel)
	}
}

// Define looks up the action, and checks parameters and target against it.
func (d *Draft) Define(sight presence.State, def *remediationv1.ActionDefinition) {
	switch {
	case d.stopped:
		return
	case sight == presence.Gone:
		d.refuse(execution.ReasonApprovalVoid, "There is no ActionDefinition %s, so the action %s does not exist.", remediationv1.DefinitionOf(d.x.Spec.Action), d.x.Spec.Action)
		return
	case sight != presence.Here:
		d.Wait(execution.ReasonNotLooked, "Waiting for a look at ActionDefinition %s.", remediationv1.DefinitionOf(d.x.Spec.Action))
		return
	}
	d.definition = def
	taken := func(k remediationv1.TargetKind) bool { return k.Kind == d.x.Spec.Target.Kind }
	i := slices.IndexFunc(def.Spec.TargetKinds, taken)
	if i < 0 {
		d.refuse(execution.ReasonInvalid, "Action %s does not take a %s.", d.x.Spec.Action, d.x.Spec.Target.Kind)
		return
	}
	d.kind = def.Spec.TargetKinds[i]
	if node := d.kind.Group == "" && d.kind.Kind == "Node"; node != (d.x.Namespace == remediationv1.NodesNamespace) {
		d.refuse(execution.ReasonInvalid, "Nodes are repaired by executions in namespace %s, and nothing else is.", remediationv1.NodesNamespace)
		return
	}
	if def.Spec.Builtin == "" {
		d.refuse(execution.ReasonInvalid, "Action %s runs an image of its own, which this version does not support.", d.x.Spec.Action)
		return
	}
	params, err := action.Check(def.Spec.Parameters, d.x.Spec.Parameters)
	if err != nil {
		d.refuse(execution.ReasonInvalid, "%s", sentence(err))
		return
	}
	if name, is := tooLong(d.x.Spec.PreConditions, d.x.Spec.PostConditions); is {
		d.refuse(execution.ReasonInvalid, "The parameters of condition %s take more than %d bytes.", name, maxAsked)
		return
	}
	d.params, d.result.ParameterValidation = params, true
}

// Right is the answer to one access review.
type Right struct {
	Allowed bool
	Why     string // the right that is missing, in words
}

// Rights looks whether the requester may do to the target what the action does.
func (d *Draft) Rights(all []Right) {
	for _, r := range all {
		if !r.Allowed {
			d.refuse(execution.ReasonAccessDenied, "%s.", r.Why)
		}
	}
}

// Account looks at the ServiceAccount of the action and its binding.
func (d *Draft) Account(account, binding presence.State) {
	if d.stopped {
		return
	}
	name := execution.DefinitionAccount(d.x.Spec.Action)
	switch {
	case account == presence.Other || binding == presence.Other:
		d.refuse(execution.ReasonAccessDenied, "ServiceAccount or RoleBinding %s of namespace %s was not made by the manager: its owner must delete it.", name, d.x.Namespace)
	case account == presence.Gone || binding == presence.Gone:
		d.look.NeedsAccount = true
		d.Wait(execution.ReasonMakingAccount, "Waiting for the ServiceAccount %s to be made.", name)
	case account != presence.Here || binding != presence.Here:
		d.Wait(execution.ReasonNotLooked, "Waiting for a look at ServiceAccount %s.", name)
	default:
		d.result.RBACValidation = true
	}
}

// Target takes the target as the action's account reads it, and what is reserved for it.
func (d *Draft) Target(sight presence.State, object map[string]any, reserves reserve.Ref) {
	if d.kind.Kind == "" {
		return
	}
	d.absent = sight == presence.Gone
	if sight == presence.Here {
		d.object, d.look.Reserves = object, reserves
		d.look.Token = action.ReadToken(object, d.x.UID) == action.Done
		d.state()
	}
	switch {
	case d.stopped:
	case sight == presence.Gone:
		d.refuse(execution.ReasonTargetChanged, "%s %s does not exist in namespace %s.", d.kind.Kind, d.x.Spec.Target.Name, d.x.Namespace)
	case sight != presence.Here:
		d.Wait(execution.ReasonNotLooked, "Waiting for a look at %s %s with the rights of the action.", d.kind.Kind, d.x.Spec.Target.Name)
	default:
		d.plan()
	}
}

// state keeps the target's footprint as it is, whether or not the action can be planned on it.
func (d *Draft) state() {
	if d.definition == nil {
		return
	}
	f, err := action.ReadOf(d.definition.Spec.Builtin, d.object, d.params)
	if err != nil {
		return
	}
	meta := metadata(d.object)
	d.look.State = &remediationv1.Footprint{Hash: f.Hash, Values: f.Values, UID: meta.UID, ResourceVersion: meta.ResourceVersion}
}

func (d *Draft) plan() {
	change, err := action.Plan(d.definition.Spec.Builtin, d.object, d.params, d.x.UID)
	refusal := (*action.Refusal)(nil)
	switch {
	case errors.As(err, &refusal):
		d.refuse(execution.ReasonTargetChanged, "%s", sentence(refusal))
	case err != nil:
		d.refuse(execution.ReasonInvalid, "%s", sentence(err))
	default:
		d.change, d.result.ResourceExists = change, true
	}
}
