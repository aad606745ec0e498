package plan

import (
	"fmt"
	"slices"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// InverseName is the ActionDefinition of the action that takes this one back; "" is that none does.
func (d *Draft) InverseName() string {
	if d.definition == nil || d.definition.Spec.Inverse == "" {
		return ""
	}
	return remediationv1.DefinitionOf(d.definition.Spec.Inverse)
}

// DefineInverse looks up the action that takes this one back.
func (d *Draft) DefineInverse(sight presence.State, def *remediationv1.ActionDefinition) {
	if sight == presence.Here {
		d.inverse = def
	}
}

// wayBack is the action that takes this one back, and what it does not bring back, or why there is none. It is carried
// out later, by an execution of its own, so it is checked by its definition before a person approves the plan.
func (d *Draft) wayBack() (*remediationv1.Inverse, string) {
	back := d.change.Inverse
	switch {
	case back == nil:
		return nil, fsm.Cut(d.change.Caveat)
	case d.InverseName() == "":
		return nil, ""
	}
	if why := d.unfit(back); why != "" {
		return nil, fsm.Cut("It cannot be taken back: " + why)
	}
	return &remediationv1.Inverse{
		Action: remediationv1.ActionOf(d.InverseName()), Parameters: back.Parameters, Definition: d.inverse.UID,
	}, fsm.Cut(d.change.Caveat)
}

// unfit says why the definition of the inverse cannot be used for that; "" is that it can.
func (d *Draft) unfit(back *remediationv1.Inverse) string {
	name := remediationv1.ActionOf(d.InverseName())
	if d.inverse == nil {
		return fmt.Sprintf("there is no ActionDefinition %s.", d.InverseName())
	}
	spec := d.inverse.Spec
	takes := func(k remediationv1.TargetKind) bool { return k.Group == d.kind.Group && k.Kind == d.kind.Kind }
	switch {
	case spec.Builtin != back.Action:
		return fmt.Sprintf("action %s does not do what would take it back, which is %s.", name, back.Action)
	case !slices.ContainsFunc(spec.TargetKinds, takes):
		return fmt.Sprintf("action %s does not take a %s.", name, d.kind.Kind)
	}
	if _, err := action.Check(spec.Parameters, back.Parameters); err != nil {
		return fmt.Sprintf("action %s refuses its parameters. %s", name, sentence(err))
	}
	return ""
}
