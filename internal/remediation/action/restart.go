package action

import (
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// RestartedBy in the template of pods names the execution that restarted them. It is not the time,
// as with kubectl: that would change from one plan to the next.
const RestartedBy = remediationv1.GroupName + "/restarted-by"

var template = Path{"spec", "template"}

func rolloutRestart() Builtin {
	return Builtin{
		Name: "rollout_restart", Kinds: []remediationv1.TargetKind{deployments, statefulSets, daemonSets}, write: PatchTarget,
		fields: func(Params) []Path { return []Path{template} },
		plan:   planRestart,
	}
}

func planRestart(s subject) (effect, error) {
	if err := s.rolls(); err != nil {
		return effect{}, err
	}
	strategy, _ := Path{"spec", "updateStrategy", "type"}.of(s.object)
	if strategy == "OnDelete" {
		return effect{}, refuse("%s has the update strategy OnDelete: its pods restart only when they are deleted.", s)
	}
	mark := Path{"spec", "template", "metadata", "annotations", RestartedBy}
	was, _ := mark.of(s.object)
	if was == string(s.execution) {
		return effect{}, refuse("%s was restarted by this execution already.", s)
	}
	return effect{
		patch:   nest(string(s.execution), mark...),
		fields:  []remediationv1.Change{field(mark, was, string(s.execution))},
		caveat:  "A restart cannot be taken back.",
		summary: fmt.Sprintf("Restart all pods of %s, as its update strategy allows.", s),
	}, nil
}

// rolls refuses a target whose template does not reach its pods.
func (s subject) rolls() error {
	if _, is := template.of(s.object); !is {
		return refuse("%s has no template of pods.", s)
	}
	if paused, _ := (Path{"spec", "paused"}).of(s.object); paused == true {
		return refuse("The rollouts of %s are paused: resume them first.", s)
	}
	return nil
}
