package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/approval"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// NeedsDryRun says that the policy wants the API server to accept the change as a dry run first.
func (d *Draft) NeedsDryRun() bool { return !d.stopped && d.decision.RequiresDryRun }

// Patch is the patch that the action would write, and the object that it writes. It is for any version of that: it is
// only tried, and a target that others write all the time would never be looked at to the end. A deletion has none.
func (d *Draft) Patch() (patch map[string]any, target *unstructured.Unstructured) {
	meta := metadata(d.object)
	if d.change.Write == action.DeleteTarget {
		return nil, &unstructured.Unstructured{Object: d.object}
	}
	state := action.Done
	if d.change.Write == action.DrainTarget { // its first write
		state = action.Started
	}
	patch = action.WithToken(d.change.Patch, d.x.UID, state)
	return action.Aimed(patch, meta.UID), &unstructured.Unstructured{Object: d.object}
}

// DryRan takes what the API server said to the change as a dry run; refusal is empty if it accepted it.
func (d *Draft) DryRan(refusal string, warnings []string) {
	d.result.DryRun = &remediationv1.DryRunResult{Success: refusal == "", Warnings: warnings}
	if refusal != "" {
		d.stop(execution.DryFails, execution.ReasonDryRunFailed, "The API server refuses the change: "+refusal)
	}
}

// Look is what all of it comes to.
func (d *Draft) Look() execution.Look {
	l := d.look
	l.Validation = d.result.DeepCopy()
	if d.stopped {
		return l
	}
	l.Outcome, l.Covered, l.Plan = execution.Planned, d.covered, d.made()
	return l
}

// made is the plan, with its digest over all that a person is asked to approve.
func (d *Draft) made() *remediationv1.Plan {
	meta, def := metadata(d.object), d.definition
	inverse, caveat := d.wayBack()
	p := &remediationv1.Plan{
		Summary: strings.TrimSuffix(d.change.Summary, "."), Changes: d.change.Fields, Inverse: inverse, Caveat: caveat, Policy: d.decision,
		Footprint: d.change.Before.Hash, Action: def.UID, Image: d.image, Account: execution.DefinitionAccount(d.x.Spec.Action),
		Target: remediationv1.PlannedTarget{
			APIVersion: apiVersion(d.kind), Kind: d.kind.Kind, Name: d.x.Spec.Target.Name, UID: meta.UID,
		},
	}
	p.Content = approval.Digest(string(p.Action), text(def.Spec), text(d.params), string(p.Target.UID), p.Footprint, text(d.change.Patch), text(p.Inverse), p.Caveat, p.Image)
	p.Digest = execution.PlanOf(d.x, p.Content, p.Policy).Token()
	return p
}

func apiVersion(k remediationv1.TargetKind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// text is a value in a form that is the same for the same value: keys of JSON objects are sorted.
func text(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // plain data can always be encoded
	}
	return string(encoded)
}
