package remediation

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

type kx = remediationv1.KubernetesExecution

// creating makes an execution that somebody has tampered with.
func creating(change func(*kx)) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, _ *stage, a actor) error {
		x := execution("")
		x.GenerateName = "attack-"
		change(x)
		return a.Create(t.Context(), x)
	}
}

// forging makes an execution in the name of somebody else.
func forging(forge func(*meta.Requester), annotations ...string) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, _ *stage, a actor) error {
		x, is := execution(""), harness.WhoAmI(t, a.cfg)
		x.GenerateName, x.Spec.Requester = "attack-", is.DeepCopy()
		x.Annotations = forgery("/spec/requester", annotations...)
		forge(x.Spec.Requester)
		if err := a.Create(t.Context(), x); err != nil {
			return err
		}
		if same(x.Spec.Requester, is) {
			return errUndone
		}
		return nil
	}
}

// forgery lets a policy of somebody else write what is at a path, if there are any annotations.
func forgery(path string, annotations ...string) map[string]string {
	if len(annotations) == 0 {
		return nil
	}
	all := map[string]string{}
	for _, name := range annotations {
		all[name] = path
	}
	return all
}

func asHeIs(*meta.Requester) {}

func same(a, b *meta.Requester) bool {
	return a != nil && a.Username == b.Username && a.UID == b.UID && len(a.Groups) == len(b.Groups) && maps.EqualFunc(a.Extra, b.Extra, func(a, b meta.ExtraValue) bool {
		return len(a) == len(b) && (len(a) == 0 || a[0] == b[0])
	})
}

// patching changes an execution that is there.
func patching(which func(*stage) *kx, patch string, args ...any) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		return a.Patch(t.Context(), which(s).DeepCopy(), merge(patch, args...))
	}
}

// patchingStatus changes the status of an execution.
func patchingStatus(which func(*stage) *kx, patch string) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		return a.Status().Patch(t.Context(), which(s).DeepCopy(), merge("%s", patch))
	}
}

func waiting(s *stage) *kx   { return s.waiting }
func executing(s *stage) *kx { return s.executing }
func begun(s *stage) *kx     { return s.begun }
func cancelled(s *stage) *kx { return s.cancelled }

// ownedBy makes an object one of an owner that may not be there.
func ownedBy(obj client.Object, kind string) {
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: remediationv1.GroupVersion.String(), Kind: kind, Name: "parent", UID: "1"}})
}

// stepOf makes an execution one that the manager makes: a step of a request.
func stepOf(x *kx) {
	ownedBy(x, "RemediationRequest")
	x.OwnerReferences[0].Controller = ptr.To(true)
	x.Spec.Parent = &remediationv1.ParentRef{Name: "parent", UID: "1", Step: "scale", Attempt: 1}
	x.Spec.Requester = &meta.Requester{Username: "somebody"}
}

// makingStep makes a step as the manager does, but for what is changed.
func makingStep(change func(*kx)) func(*testing.T, *stage, actor) error {
	return creating(func(x *kx) { stepOf(x); change(x) })
}

// How those are refused who are not the manager.
const (
	notTheManager = "only the manager of area remediation "
	madeWith      = notTheManager + "makes objects of it with "
	onlyCancel    = "only spec.cancel can be changed, cancel it and make another"
	unchangeable  = "an execution cannot be changed: cancel it and make another"
	statusIsOurs  = notTheManager + "writes the status of its kinds"
	noStatus      = `cannot patch resource "kubernetesexecutions/status" in API group "remediation.statecraft.dev" in the namespace "shop"`
	ofItsRequest  = "the manager makes executions of RemediationRequests, and no others, so spec.parent and the only owner must be the same request"
	notCreated    = "no object can be created with the annotation remediation.statecraft.dev/begun, because the one that it was copied from has begun already, make a new one"
	begunOnce     = notTheManager + "writes the annotation remediation.statecraft.dev/begun, once, and with the object's own UID"
)

func identity() []attack {
	return []attack{
		{name: "forge the requester", by: both, says: errUndone.Error(), try: forging(func(r *meta.Requester) { r.Username = "somebody-else" })},
		{name: "forge groups", by: both, says: errUndone.Error(), try: forging(func(r *meta.Requester) { r.Groups = append(r.Groups, "system:masters") })},
		{name: "forge a UID", by: both, says: errUndone.Error(), try: forging(func(r *meta.Requester) { r.UID = "1" })},
		{name: "forge extra", by: both, says: errUndone.Error(), try: forging(func(r *meta.Requester) {
			r.Extra = map[string]meta.ExtraValue{harness.ExtraPodUID: {"1"}}
		})},
		{name: "forge by a policy the requester", by: both, says: "spec.requester must be the user who makes the request", undone: true, try: forging(asHeIs, "forge")},
		{name: "forge by a policy the requester's groups", by: both, says: "spec.requester.groups must be those of the user who makes the request", undone: true,
			try: forging(asHeIs, "forge", "groups")},
		{name: "request as an action", by: []string{action}, says: "an action cannot request actions", try: creating(func(*kx) {}), proves: "requester"},
		{name: "request as nobody", by: []string{manager}, says: "the manager must say on whose behalf it makes an execution", try: makingStep(func(x *kx) {
			x.Spec.Requester = nil
		})},
		{name: "change the requester", by: both, says: "spec.requester cannot be changed", try: patching(waiting, `{"spec":{"requester":{"username":"somebody-else"}}}`)},
		{name: "remove the requester", by: both, says: "spec.requester cannot be changed", try: patching(waiting, `{"spec":{"requester":null}}`)},
		{name: "forge a parent", by: both, says: madeWith + "an owner", try: creating(func(x *kx) { ownedBy(x, "RemediationRequest") })},
		{name: "give an owner", by: both, says: madeWith + "an owner", try: creating(func(x *kx) { ownedBy(x, "KubernetesExecution") })},
		{name: "give a finalizer", by: both, says: madeWith + "finalizers", proves: "parents", try: creating(func(x *kx) { x.Finalizers = []string{"example.com/stay"} })},
		{name: "give an owner later", by: both, says: notTheManager + "changes owners and finalizers of its objects", try: patching(
			waiting, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`)},
		{name: "give a finalizer later", by: both, says: notTheManager + "changes owners and finalizers of its objects", try: patching(
			waiting, `{"metadata":{"finalizers":["example.com/stay"]}}`)},
		{name: "execute without a parent", by: []string{manager}, says: ofItsRequest, try: creating(func(x *kx) {
			x.Spec.Requester = &meta.Requester{Username: "somebody"}
		})},
		{name: "make a step", by: both, says: notTheManager + "makes executions that are steps of a request, by spec.parent", try: creating(func(x *kx) {
			stepOf(x)
			x.OwnerReferences = nil
		})},
		{name: "become a step", by: both, says: "spec.parent cannot be changed", try: patching(
			waiting, `{"spec":{"parent":{"name":"parent","uid":"1","step":"scale","attempt":1}}}`)},
		{name: "make a step without an owner", by: []string{manager}, says: ofItsRequest, try: makingStep(func(x *kx) { x.OwnerReferences = nil })},
		{name: "make a step that does not say so", by: []string{manager}, says: ofItsRequest, try: makingStep(func(x *kx) { x.Spec.Parent = nil })},
		{name: "make a step of another request by the same name", by: []string{manager}, says: ofItsRequest, try: makingStep(func(x *kx) { x.Spec.Parent.UID = "2" })},
		{name: "make a step of a request by another name", by: []string{manager}, says: ofItsRequest, try: makingStep(func(x *kx) { x.Spec.Parent.Name = "other" })},
		{name: "make a step with two owners", by: []string{manager}, says: ofItsRequest, try: makingStep(func(x *kx) {
			x.OwnerReferences = append(x.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "3"})
		})},
		{name: "make a step that its owner does not control", by: []string{manager}, says: ofItsRequest, try: makingStep(func(x *kx) { x.OwnerReferences[0].Controller = nil })},
		{name: "create as begun", by: both, says: notCreated, try: creating(func(x *kx) {
			x.Annotations = map[string]string{remediationv1.BegunAnnotation: "1"}
		})},
		{name: "create a child as begun", by: []string{manager}, says: notCreated, try: makingStep(func(x *kx) {
			x.Annotations = map[string]string{remediationv1.BegunAnnotation: "1"}
		})},
		{name: "restore a backup as system:masters", by: []string{masters}, says: notCreated, try: func(t *testing.T, s *stage, a actor) error {
			x := s.begun.DeepCopy()
			x.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "restored", Annotations: x.Annotations}
			return a.Create(t.Context(), x)
		}},
		{name: "say that it has begun", by: both, says: begunOnce, proves: "begun", try: func(t *testing.T, s *stage, a actor) error {
			return patching(waiting, `{"metadata":{"annotations":{"%s":"%s"}}}`, remediationv1.BegunAnnotation, s.waiting.UID)(t, s, a)
		}},
		{name: "say that it has not begun", by: slices.Concat(both, []string{manager}), says: begunOnce, try: patching(
			begun, `{"metadata":{"annotations":{"%s":null}}}`, remediationv1.BegunAnnotation)},
		{name: "say that another has begun", by: []string{manager}, says: begunOnce, try: patching(
			waiting, `{"metadata":{"annotations":{"%s":"1"}}}`, remediationv1.BegunAnnotation)},
		{name: "change the action", by: both, says: unchangeable, try: patching(waiting, `{"spec":{"action":"test_limit"}}`)},
		{name: "change the target", by: both, says: unchangeable, try: patching(waiting, `{"spec":{"target":{"name":"other"}}}`)},
		{name: "change a parameter", by: slices.Concat(both, []string{manager, masters}), says: onlyCancel, proves: "spec", try: patching(waiting, `{"spec":{"parameters":{"replicas":99}}}`)},
		{name: "add a parameter", by: both, says: onlyCancel, try: patching(waiting, `{"spec":{"parameters":{"force":{"deep":[1]}}}}`)},
		{name: "remove the parameters", by: both, says: onlyCancel, try: patching(waiting, `{"spec":{"parameters":null}}`)},
		{name: "change a precondition", by: both, says: onlyCancel, try: patching(
			waiting, `{"spec":{"preConditions":[{"name":"calm","required":true,"parameters":{"for":0}}]}}`)},
		{name: "drop the postconditions", by: both, says: onlyCancel, try: patching(waiting, `{"spec":{"postConditions":null}}`)},
		{name: "call it a rollback", by: both, says: unchangeable, try: patching(waiting, `{"spec":{"rollbackOf":{"name":"begun","uid":"1"}}}`)},
		{name: "take more time", by: both, says: "the deadlines of an execution cannot be changed", try: patching(waiting, `{"spec":{"approvalTimeoutSeconds":600000}}`)},
		{name: "take a cancellation back", by: both, says: "a cancelled execution stays cancelled", try: patching(cancelled, `{"spec":{"cancel":false}}`)},
		{name: "write a status", by: both, says: statusIsOurs, rbac: noStatus, proves: "status", try: patchingStatus(waiting, `{"status":{"phase":"executing"}}`)},
		{name: "lose a status", by: both, says: statusIsOurs, rbac: noStatus, try: patchingStatus(begun, `{"status":null}`)},
		{name: "change a plan", by: both, says: statusIsOurs, rbac: noStatus, try: patchingStatus(waiting, `{"status":{"plan":{"digest":"1"}}}`)},
		{name: "create with a status", by: both, says: errUndone.Error(), try: func(t *testing.T, _ *stage, a actor) error {
			x := execution("")
			x.GenerateName, x.Status.Phase, x.Status.Effect = "attack-", "waiting_approval", remediationv1.EffectNotApplied
			if err := a.Create(t.Context(), x); err != nil || x.Status.Phase != "" || x.Status.Effect != "" {
				return err
			}
			return errUndone
		}},
		{name: "apply over the manager's fields", by: both, says: notTheManager, rbac: notTheManager, try: func(t *testing.T, s *stage, a actor) error {
			patch := client.RawPatch(types.ApplyPatchType, []byte(`{"apiVersion":"remediation.statecraft.dev/v1alpha1","kind":"KubernetesExecution",
				"metadata":{"finalizers":["example.com/stay"]}}`))
			return a.Patch(t.Context(), s.waiting.DeepCopy(), patch, client.FieldOwner("thief"), client.ForceOwnership)
		}},
	}
}
