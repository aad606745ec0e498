package action

import (
	"fmt"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// deletePod deletes one pod. Its footprint is its owners: they make another pod in its place, and one
// that lost them since it was approved would be gone for good. The UID says which pod it is; what its
// containers do, its labels and its status void nothing.
func deletePod() Builtin {
	return Builtin{
		Name: "delete_pod", Kinds: []remediationv1.TargetKind{pods}, write: DeleteTarget,
		Parameters: []remediationv1.Parameter{{
			Name: "gracePeriodSeconds", Description: "How long its containers may take to end; as the pod says if it is not given. 0 does not wait for its kubelet, so they may run on.",
			Type: remediationv1.TypeInteger, Minimum: new(int64(0)), Maximum: new(int64(3600)),
		}},
		fields: func(Params) []Path { return []Path{{"metadata", "ownerReferences"}} },
		plan:   planDeletion,
	}
}

func planDeletion(s subject) (effect, error) {
	if say := s.stays(); say != "" {
		return effect{}, refuse("%s", say)
	}
	uid := Path{"metadata", "uid"}
	value, _ := uid.of(s.object)
	e := effect{fields: []remediationv1.Change{field(uid, value, nil)}, caveat: "A deletion cannot be taken back."}
	how := ""
	if seconds, given := s.params["gracePeriodSeconds"].(int64); given {
		e.grace = &seconds
		if how = fmt.Sprintf(" with a grace period of %d s", seconds); seconds == 0 {
			how = " without waiting for its containers to end"
		}
	}
	again := "no controller makes another one"
	if owner := s.controller(); owner != "" {
		again = owner + " makes another one"
	}
	e.summary = fmt.Sprintf("Delete %s%s; %s.", s, how, again)
	return e, nil
}

// stays says why a pod is not deleted; "" if it may be.
func (s subject) stays() string {
	switch {
	case isOfAction(s.object):
		return fmt.Sprintf("%s is that of an action: cancel its KubernetesExecution instead.", s)
	case isMirror(s.object):
		return fmt.Sprintf("%s mirrors a static pod of its node, which a deletion does not end.", s)
	}
	return ""
}

// isOfAction says that a pod performs an action, by its label or its account: without it nothing may
// tell any more what that action did.
func isOfAction(pod map[string]any) bool {
	_, labelled := (Path{"metadata", "labels", remediationv1.ExecutionLabel}).of(pod)
	account, _ := (Path{"spec", "serviceAccountName"}).of(pod)
	name, _ := account.(string)
	return labelled || strings.HasPrefix(name, remediationv1.AccountPrefix)
}

func isMirror(pod map[string]any) bool {
	_, mirrors := (Path{"metadata", "annotations", "kubernetes.io/config.mirror"}).of(pod)
	return mirrors
}

// controller names the object that makes another pod in place of this one; "" if there is none.
func (s subject) controller() string {
	value, _ := (Path{"metadata", "ownerReferences"}).of(s.object)
	owners, _ := value.([]any)
	for _, owner := range owners {
		o, _ := owner.(map[string]any)
		if o["controller"] == true {
			return fmt.Sprintf("%v %v", o["kind"], o["name"])
		}
	}
	return ""
}
