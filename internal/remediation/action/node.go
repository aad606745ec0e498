package action

import (
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

var unschedulable = Path{"spec", "unschedulable"}

// cordon keeps new pods off a node, or lets them on it again. A node without the field takes pods,
// and one that takes pods has no such field: so the inverse leaves the node as it was.
func cordon(name, inverse string, on bool) Builtin {
	return Builtin{
		Name: name, Kinds: []remediationv1.TargetKind{nodes}, Inverse: inverse, write: PatchTarget,
		fields: func(Params) []Path { return []Path{unschedulable} },
		plan: func(s subject) (effect, error) {
			value, _ := unschedulable.of(s.object)
			is := value == true
			switch {
			case is && on:
				return effect{}, refuse("%s is already cordoned: there is nothing to do.", s)
			case !is && !on:
				return effect{}, refuse("%s is not cordoned: there is nothing to do.", s)
			}
			e := effect{undo: Params{}}
			if on {
				e.patch, e.summary = nest(true, unschedulable...), fmt.Sprintf("Keep new pods off %s.", s)
				e.fields = []remediationv1.Change{field(unschedulable, value, true)}
			} else {
				e.patch, e.summary = nest(nil, unschedulable...), fmt.Sprintf("Let new pods onto %s again.", s)
				e.fields = []remediationv1.Change{field(unschedulable, value, nil)}
			}
			return e, nil
		},
	}
}
