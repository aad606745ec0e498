package capture

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// state is the phase of the request, and why it ended.
func (s *restoreStory) state() (phase fsm.Phase, reason string) {
	r := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.request.Namespace, Name: s.request.Name}}
	if !s.world.Find(r) {
		return "", ""
	}
	if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready != nil {
		reason = ready.Reason
	}
	return r.Status.Phase, reason
}

func (s *restoreStory) ended() error {
	if phase, reason := s.state(); reason != string(s.ends) {
		return fmt.Errorf("the restore is in phase %q, %s", phase, reason)
	}
	return nil
}

// always: what a restore may not write, it does not write, not for a moment.
func (s *restoreStory) always(change sim.Change) error {
	ours := map[string]bool{manifestRestoreKind.Kind: true, keeperKind.Kind: true, volumeRestoreKind.Kind: true}
	if change.ByUser || ours[change.Kind] {
		return nil
	}
	switch {
	case change.Is == nil:
		return errors.New("something was deleted: a restore undoes nothing")
	case s.deleted:
		return errors.New("what the user deleted later was restored once more")
	case s.dry:
		return errors.New("a dry run wrote something")
	case s.ends == capturev1.ReasonConflict:
		return errors.New("something was written although a name is taken")
	case s.policy != capturev1.ConflictReplace && change.Was != nil:
		return errors.New("what was there was changed")
	case change.Is.GetAnnotations()[manifestrestore.MarkAnnotation] == "":
		return errors.New("what was written does not say by whom")
	}
	return errors.Join(s.owned(change.Is), s.supplied(change))
}

// supplied: a StatefulSet would make an empty claim if it did not find its own.
func (s *restoreStory) supplied(change sim.Change) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "data"}}
	if change.Kind != statefulSetKind.Kind {
		return nil
	}
	if !s.world.Find(claim) {
		return errors.New("what uses a claim was restored before it")
	}
	if asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]; asked.String() != "2Gi" {
		return fmt.Errorf("the claim asks for %s, which is not what was captured", &asked)
	}
	return nil
}

// owned: who is owned names an owner that exists.
func (s *restoreStory) owned(obj *unstructured.Unstructured) error {
	for _, ref := range obj.GetOwnerReferences() {
		owner := configMap(s.world, ref.Name)
		if !s.world.Find(owner) || owner.UID != ref.UID {
			return fmt.Errorf("%s is owned by %s, which does not exist", obj.GetName(), ref.UID)
		}
	}
	return nil
}

// end: what was to be restored is there, and what was there before is what it should be.
func (s *restoreStory) end([]*unstructured.Unstructured) error {
	if _, reason := s.state(); reason != string(s.ends) {
		return fmt.Errorf("the restore ended with %s, not with %s", reason, s.ends)
	}
	written := !s.dry && s.ends != capturev1.ReasonConflict
	for name, want := range map[string]bool{"a-child": written, "settings": written || s.taken, "same": written && !s.over || s.taken} {
		if s.world.Find(configMap(s.world, name)) != want {
			return fmt.Errorf("ConfigMap %s: there is %v", name, !want)
		}
	}
	if s.volume && len(s.world.All(statefulSetKind)) != 1 {
		return errors.New("what uses the volume was not restored")
	}
	if !s.taken {
		return nil
	}
	return s.endsTaken()
}

// endsTaken: what had the names before is what the policy makes of it.
func (s *restoreStory) endsTaken() error {
	settings, want := configMap(s.world, "settings"), "light"
	s.world.Find(settings)
	if s.policy == capturev1.ConflictReplace && !s.dry {
		want = "dark"
	}
	if settings.UID != s.theirs || settings.Data["theme"] != want || settings.Data["theirs"] != "stays" {
		return fmt.Errorf("what had the name has become %v", settings.Data)
	}
	if same := (&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "same"}}); s.world.Find(same) && len(same.Annotations) > 0 {
		return errors.New("what was as captured was written")
	}
	return nil
}
