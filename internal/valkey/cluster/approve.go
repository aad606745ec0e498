package cluster

import (
	"fmt"
	"slices"
	"strings"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
)

// A plan is approved before its first step, by a token of all that is in it. From then on it is
// the same plan as long as the same is wanted, although less and less of it is left.

// hasBegun says that the first step of what is wanted was taken.
func hasBegun(in input) bool {
	p := in.Obj.Status.Plan
	wanted := Wanted(in.Obj)
	return p != nil && p.Begun && len(wanted) > 0 && p.To == sizeWords(wanted) && p.Template == in.World.Template
}

// approved says that what is to be done was approved, or need not be.
func approved(in input) bool {
	_, held := notApproved(in)
	return !held
}

// notApproved is the hold before a change of size that a person has to approve, also
// of one that was edited on its way.
func notApproved(in input) (words string, held bool) {
	if !in.Obj.Spec.ApprovePlan || hasBegun(in) {
		return "", false
	}
	p, doubt := makePlan(in)
	switch {
	case doubt != "":
		return "Waiting for the manager to make the plan that a person has to approve: " + doubt + ".", true
	case p == nil:
		return "", false
	}
	steps := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = string(s)
	}
	words = fmt.Sprintf("Waiting for a person to approve status.plan, from %s to %s (%s; %d slots), with `%s`.", p.From, p.To, strings.Join(steps, ", "), p.Slots,
		plan.Approve("vkc", in.Obj.Namespace, in.Obj.Name, p.Token))
	return words, in.Obj.Annotations[valkeyv1.ApproveAnnotation] != p.Token
}

// notePlan shows what is to be done, and once it is begun what was to be done. Numbers that
// move all the time are told once.
func notePlan(out *valkeyv1.ValkeyCluster, in input) {
	p, doubt := makePlan(in)
	was, operates := in.Obj.Status.Plan, slices.Contains(scaling, out.Status.Phase)
	switch {
	case doubt != "", operates && (p == nil || hasBegun(in)):
		return
	case p == nil:
		out.Status.Plan = nil
		return
	case hasBegun(in): // between two of its steps
		return
	case was != nil && was.Token == p.Token:
		p = was.DeepCopy()
	}
	p.Begun = approved(in) && (operates || upgradeRequested(in))
	out.Status.Plan = p
}

// upgradeRequested says that the upgrade that the spec asks for was made.
func upgradeRequested(in input) bool {
	name := ownName(in)
	return slices.ContainsFunc(in.World.Own, func(u OwnUpgrade) bool { return u.Name == name })
}
