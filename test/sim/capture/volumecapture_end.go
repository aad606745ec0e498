package capture

import (
	"context"
	"errors"
	"fmt"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// always: a content is made once; no claim goes whose volume would go with it; a volume is
// always somebody's, and goes with its claim only when that is the one it should go with.
func (s *volumeStory) always(change sim.Change) error {
	switch change.GroupVersionKind {
	case contentKind:
		return s.once(change)
	case claimKind:
		gone := change.Is == nil || change.Is.GetDeletionTimestamp() != nil
		if v := s.volumeNow(); change.Name == s.claim.Name && gone && v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
			return errors.New("the claim was deleted, and its volume goes with it")
		}
	case volumeKind:
		return s.volumeChanged()
	}
	return nil
}

func (s *volumeStory) once(change sim.Change) error {
	if change.Is == nil {
		return nil
	}
	if s.content == "" {
		s.content = change.Is.GetUID()
	}
	if change.Is.GetUID() != s.content {
		return errors.New("a second content was made")
	}
	return nil
}

func (s *volumeStory) volumeNow() *corev1.PersistentVolume {
	v := s.volume.DeepCopy()
	s.world.Find(v)
	return v
}

// volumeChanged also lets the pod come at the worst moment: when the volume is marked.
func (s *volumeStory) volumeChanged() error {
	v := s.volumeNow()
	if err := s.kept(v); err != nil || !s.used || s.pod || v.Labels[capturev1.DetachedByLabel] == "" {
		return err
	}
	s.pod = true
	return s.world.Client.Create(context.Background(), s.newPod())
}

// kept says that a volume is somebody's, and is not on its way out.
func (s *volumeStory) kept(v *corev1.PersistentVolume) error {
	claim, holder := s.claim.DeepCopy(), s.holder()
	claimed := s.world.Find(claim) && claim.UID == s.claim.UID && claim.DeletionTimestamp == nil
	held := s.world.Find(holder) && holder.Status.Phase == corev1.ClaimBound && boundTo(v) == holder.UID
	switch {
	case boundTo(v) == "":
		return errors.New("anybody could bind the volume")
	case claimed && boundTo(v) != claim.UID:
		return errors.New("the volume was taken from a claim that lives")
	case v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain && !held && !claimed:
		return errors.New("the volume would be deleted")
	}
	return nil
}

func (s *volumeStory) newPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "late"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "none"}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.claim.Name},
			}}},
		},
	}
}

func (s *volumeStory) holder() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: volumecapture.HolderName(s.request.UID)}}
}

// end: what was captured is there and owned by the keeper; what was not left nothing behind.
func (s *volumeStory) end([]*unstructured.Unstructured) error {
	if err := s.ended(); err != nil {
		return err
	}
	if !s.world.Find(&capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(s.request.UID)}}) {
		return errors.New("there is no keeper")
	}
	if s.mode == capturev1.Detach {
		return s.endDetach()
	}
	return s.endSnapshot()
}

func (s *volumeStory) endSnapshot() error {
	content := &snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: volumecapture.ContentName(s.request.UID)}}
	there, r := s.world.Find(content), s.request.DeepCopy()
	s.world.Find(r)
	ref, origin := r.Status.ArtifactRef, r.Status.Origin
	switch ended := s.ends == capturev1.ReasonCompleted; {
	case !s.world.Find(s.claim.DeepCopy()):
		return errors.New("the claim is gone")
	case !ended && there:
		return errors.New("the content is still there")
	case !ended:
		return s.storage.holds(0)
	case !there || !owned(content, "ObjectKeeper"):
		return errors.New("the content is gone, or nobody's")
	case ref == nil || ref.UID != content.UID || origin == nil || origin.ClaimUID != s.claim.UID:
		return fmt.Errorf("the status does not say what was captured: %+v, %+v", ref, origin)
	}
	return s.storage.holds(1)
}

func (s *volumeStory) endDetach() error {
	v, holder := s.volumeNow(), s.holder()
	there, held := s.world.Find(s.claim.DeepCopy()), s.world.Find(holder)
	switch {
	case v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete:
		return fmt.Errorf("the volume's policy is %s", v.Spec.PersistentVolumeReclaimPolicy)
	case s.used && (!there || held || boundTo(v) != s.claim.UID || v.Labels[capturev1.DetachedByLabel] != ""):
		return errors.New("the volume is not as it was before")
	case !s.used && (there || !held || boundTo(v) != holder.UID || !owned(holder, "ObjectKeeper")):
		return errors.New("the volume is not held")
	}
	return nil
}
