package action

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// drainNode keeps new pods off a node and evicts those that are on it. Its footprint is whether the node
// takes pods: pods come and go, and an approval of a list of them would be void within seconds.
func drainNode() Builtin {
	return Builtin{
		Name: "drain_node", Kinds: []remediationv1.TargetKind{nodes}, Inverse: "uncordon_node", write: DrainTarget,
		Parameters: []remediationv1.Parameter{{
			Name: "deleteEmptyDirData", Description: "Evict pods with emptyDir volumes as well, whose data is lost.", Type: remediationv1.TypeBoolean,
		}, {
			Name: "force", Description: "Evict pods without a controller as well, of which no other is made.", Type: remediationv1.TypeBoolean,
		}, {
			Name: "gracePeriodSeconds", Description: "How long their containers may take to end; as each pod says if it is not given.",
			Type: remediationv1.TypeInteger, Minimum: new(int64(1)), Maximum: new(int64(3600)),
		}},
		fields: func(Params) []Path { return []Path{unschedulable} },
		plan:   planDrain,
	}
}

func planDrain(s subject) (effect, error) {
	e := effect{patch: nest(true, unschedulable...)}
	if seconds, given := s.params["gracePeriodSeconds"].(int64); given {
		e.grace = &seconds
	}
	var also []string
	if s.params["deleteEmptyDirData"] == true {
		also = append(also, "those that lose emptyDir volumes")
	}
	if s.params["force"] == true {
		also = append(also, "those that no controller makes again")
	}
	what := fmt.Sprintf("Keep new pods off %s and evict all pods but those of DaemonSets", s)
	if value, _ := unschedulable.of(s.object); value == true {
		what = fmt.Sprintf("Evict all pods from %s but those of DaemonSets", s)
		e.caveat = "It cannot be taken back: the node was cordoned before, and pods that were evicted do not come back."
	} else {
		e.fields = []remediationv1.Change{field(unschedulable, value, true)}
		e.undo, e.caveat = Params{}, "Its inverse lets new pods onto the node; those that were evicted do not come back."
	}
	if len(also) > 0 {
		what += ", also " + strings.Join(also, " and ")
	}
	e.summary = what + "."
	return e, nil
}

// EvictsFrom says that a builtin evicts pods from its target, so that its own pod must be elsewhere.
func EvictsFrom(builtin string) bool {
	b, err := find(builtin)
	return err == nil && b.write == DrainTarget
}

// Pod is one pod on a node that is drained.
type Pod struct {
	Namespace, Name string
	UID             types.UID
}

func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// Departure is what a drain does with the pods that are on a node.
type Departure struct {
	// Evict are to be evicted. Await end by themselves: they are terminating, or perform an action.
	Evict, Await []Pod
	// Refused says which pods are not evicted, and what to do about each.
	Refused []string
}

// Depart sorts the pods of a node as kubectl drain does. Those of DaemonSets stay, because they would
// come back at once, and so do static pods and pods that have ended.
func Depart(all []map[string]any, p Params) (d Departure) {
	for _, object := range all {
		metadata, _ := object["metadata"].(map[string]any)
		pod, s := Pod{}, subject{object: object}
		pod.Namespace, _ = metadata["namespace"].(string)
		pod.Name, _ = metadata["name"].(string)
		uid, _ := metadata["uid"].(string)
		pod.UID = types.UID(uid)
		owner := s.controller()
		switch phase, _ := (Path{"status", "phase"}).of(object); {
		case phase == "Succeeded", phase == "Failed", isMirror(object), strings.HasPrefix(owner, "DaemonSet "):
		case metadata["deletionTimestamp"] != nil, isOfAction(object):
			d.Await = append(d.Await, pod)
		case owner == "" && p["force"] != true:
			d.Refused = append(d.Refused, fmt.Sprintf("%s has no controller, so no other is made: set parameter force to evict it", pod))
		case hasEmptyDir(object) && p["deleteEmptyDirData"] != true:
			d.Refused = append(d.Refused, fmt.Sprintf("%s has an emptyDir volume: set parameter deleteEmptyDirData to lose its data", pod))
		default:
			d.Evict = append(d.Evict, pod)
		}
	}
	for _, list := range [][]Pod{d.Evict, d.Await} {
		slices.SortFunc(list, func(a, b Pod) int { return strings.Compare(a.String(), b.String()) })
	}
	slices.Sort(d.Refused)
	return d
}

func hasEmptyDir(pod map[string]any) bool {
	value, _ := (Path{"spec", "volumes"}).of(pod)
	volumes, _ := value.([]any)
	return slices.ContainsFunc(volumes, func(v any) bool {
		volume, _ := v.(map[string]any)
		_, is := volume["emptyDir"]
		return is
	})
}
