package capture

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// reason is why a request ended; "" while it has not.
func (s *volumeRestoreStory) reason(r *capturev1.VolumeRestoreRequest) string {
	r = r.DeepCopy()
	if !s.world.Find(r) {
		return ""
	}
	if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready != nil {
		return ready.Reason
	}
	return ""
}

// neverBegun says that the deadline came before the restorer had anything to do.
func (s *volumeRestoreStory) neverBegun() bool {
	r := s.request.DeepCopy()
	return s.reason(r) == string(capturev1.ReasonDeadlineExceeded) && s.world.Find(r) && r.Status.Source == nil
}

func (s *volumeRestoreStory) claim(r *capturev1.VolumeRestoreRequest) (*corev1.PersistentVolumeClaim, bool) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Spec.VolumeClaimTemplate.Name}}
	return c, s.world.Find(c)
}

func (s *volumeRestoreStory) intent() bool {
	return s.world.Find(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: restorer.VolumeName(s.request.UID)}})
}

func (s *volumeRestoreStory) intended() error {
	if !s.intent() {
		return errors.New("the driver is not asked yet")
	}
	return nil
}

// undone says that nothing is left of a request that was deleted.
func (s *volumeRestoreStory) undone() error {
	if c, there := s.claim(s.request); there {
		return fmt.Errorf("claim %s is still there", c.Name)
	}
	if s.intent() {
		return errors.New("the intent is still there")
	}
	return s.backend(0)
}

func (s *volumeRestoreStory) backend(n int) error {
	if got := s.driver.Volumes(); len(got) != n {
		return fmt.Errorf("the driver has the volumes %v, want %d", got, n)
	}
	return nil
}

// always: no claim that holds data is deleted, and a volume has always an owner.
func (s *volumeRestoreStory) always(change sim.Change) error {
	switch change.GroupVersionKind {
	case claimKind:
		gone := change.Is == nil || change.Is.GetDeletionTimestamp() != nil
		if change.Was == nil || !gone {
			return nil
		}
		if phase, _, _ := unstructured.NestedString(change.Was.Object, "status", "phase"); phase == string(corev1.ClaimBound) {
			return errors.New("a claim that holds data was deleted")
		}
	case volumeKind:
		if change.Is == nil {
			return errors.New("a volume was deleted")
		}
		if uid, _, _ := unstructured.NestedString(change.Is.Object, "spec", "claimRef", "uid"); uid == "" {
			return errors.New("anybody could bind the volume")
		}
	}
	return nil
}

// end: what was restored is owned, once; what was not left nothing behind.
func (s *volumeRestoreStory) end([]*unstructured.Unstructured) error {
	if s.deleted {
		return s.undone()
	}
	if err := s.ended(s.request, s.ends); err != nil {
		return err
	}
	if s.intent() {
		return errors.New("the intent is still there")
	}
	c, there := s.claim(s.request)
	switch {
	case s.ends != capturev1.ReasonCompleted && there:
		return errors.New("a claim is left that holds nothing")
	case s.ends != capturev1.ReasonCompleted:
		return s.backend(0)
	case !there || c.Status.Phase != corev1.ClaimBound:
		return errors.New("the claim is not bound")
	case (s.rehearsal) != owned(c, "ObjectKeeper"):
		return errors.New("the claim is owned by the wrong one")
	case s.moves:
		return s.moved(c)
	}
	return s.backend(1)
}

func (s *volumeRestoreStory) moved(c client.Object) error {
	v := s.volume.DeepCopy()
	if !s.world.Find(v) || boundTo(v) != c.GetUID() {
		return errors.New("the volume was not handed over")
	}
	if left := slices.Contains(s.driver.Volumes(), "volume-1"); left {
		return errors.New("a volume was made besides")
	}
	return s.ended(s.second, capturev1.ReasonSourceConsumed)
}
