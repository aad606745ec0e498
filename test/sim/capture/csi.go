package capture

import (
	"context"
	"fmt"
	"slices"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/sim"
)

// storage plays those who make volumes and snapshots: the driver with its sidecars, and the
// controllers that bind claims to volumes and let them go. It acts on what is in the API, as
// they do. The same captures on the real ones are in test/integration.
type storage struct {
	world *sim.World
	// fails says that the driver reports an error for ever.
	fails     bool
	snapshots map[string]bool      // what the backend has, by the name that the sidecar asks for
	asked     map[string]time.Time // when the sidecar began to make one, by content
	made      int
	seen      int // versions of the world that need no second look
}

// takes is how long the driver takes for a snapshot.
const takes = 3 * time.Second

var (
	contentKind = snapshotv1.SchemeGroupVersion.WithKind("VolumeSnapshotContent")
	claimKind   = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumeKind  = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
)

func newStorage(w *sim.World) *storage {
	return &storage{world: w, snapshots: map[string]bool{}, asked: map[string]time.Time{}}
}

// driver is the name of the plan's own.
func (s *storage) driver() string { return s.world.Namespace + ".csi" }

// provision makes a claim with a volume, bound to each other.
func (s *storage) provision(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume, error) {
	none, c := "", s.world.Client
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: s.driver(), VolumeHandle: name}},
		},
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &none, VolumeName: volume.Name, Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	if err := c.Create(ctx, claim); err != nil {
		return nil, nil, err
	}
	volume.Spec.ClaimRef = &corev1.ObjectReference{
		APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
	}
	if err := c.Create(ctx, volume); err != nil {
		return nil, nil, err
	}
	return claim, volume, s.bind(ctx, claim)
}

func (s *storage) class() *snapshotv1.VolumeSnapshotClass {
	return &snapshotv1.VolumeSnapshotClass{
		ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace}, Driver: s.driver(), DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
	}
}

// act does what there is to do for the sidecars and controllers.
func (s *storage) act(ctx context.Context) (changed bool, next time.Time, err error) {
	version := s.world.Version()
	if version == s.seen && s.waits() == (time.Time{}) {
		return false, time.Time{}, nil
	}
	for _, obj := range s.world.Shown(contentKind) {
		did, err := s.sync(ctx, obj.(*snapshotv1.VolumeSnapshotContent).DeepCopy())
		if changed = changed || did; err != nil {
			return changed, next, err
		}
	}
	for _, obj := range s.world.Shown(claimKind) {
		did, err := s.settle(ctx, obj.(*corev1.PersistentVolumeClaim).DeepCopy())
		if changed = changed || did; err != nil {
			return changed, next, err
		}
	}
	if s.seen = version; changed {
		s.seen = -1
	}
	return changed, s.waits(), nil
}

// waits is when the next snapshot is made; zero if none is being made.
func (s *storage) waits() (next time.Time) {
	for _, at := range s.asked {
		if done := at.Add(takes); next.IsZero() || done.Before(next) {
			next = done
		}
	}
	return next
}

// sync is the sidecar: it makes the snapshot of a content, and deletes it.
func (s *storage) sync(ctx context.Context, content *snapshotv1.VolumeSnapshotContent) (bool, error) {
	name, asked := "snapshot-"+string(content.Spec.VolumeSnapshotRef.UID), s.asked[content.Name]
	switch {
	case content.DeletionTimestamp != nil:
		delete(s.asked, content.Name)
		delete(s.snapshots, name)
		content.Finalizers = nil
		return true, client.IgnoreNotFound(s.world.Client.Update(ctx, content))
	case content.Status != nil:
		return false, nil
	case asked.IsZero():
		s.asked[content.Name] = s.world.Now()
		return false, nil
	case s.world.Now().Before(asked.Add(takes)):
		return false, nil
	}
	delete(s.asked, content.Name)
	content.Status = &snapshotv1.VolumeSnapshotContentStatus{}
	if s.fails {
		words, now := "the disk is on fire", metav1.NewTime(s.world.Now())
		content.Status.Error = &snapshotv1.VolumeSnapshotError{Message: &words, Time: &now}
	} else {
		ready, size := true, int64(1<<30)
		content.Status.ReadyToUse, content.Status.SnapshotHandle, content.Status.RestoreSize = &ready, &name, &size
		s.snapshots[name] = true
		s.made++
	}
	return true, s.world.Client.Status().Update(ctx, content)
}

// settle is what the controllers of claims do: let go what is deleted, bind what is given.
func (s *storage) settle(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	switch {
	case claim.DeletionTimestamp != nil:
		claim.Finalizers = nil
		return true, client.IgnoreNotFound(s.world.Client.Update(ctx, claim))
	case claim.Status.Phase == corev1.ClaimBound || !s.given(claim):
		return false, nil
	}
	return true, s.bind(ctx, claim)
}

func (s *storage) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	claim.Status.Phase = corev1.ClaimBound
	return s.world.Client.Status().Update(ctx, claim)
}

// given says that the volume that a claim names is bound to it.
func (s *storage) given(claim *corev1.PersistentVolumeClaim) bool {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
	return s.world.Find(v) && boundTo(v) == claim.UID
}

func boundTo(v *corev1.PersistentVolume) types.UID {
	if v.Spec.ClaimRef == nil {
		return ""
	}
	return v.Spec.ClaimRef.UID
}

// holds says that the backend has these many snapshots, and never had more than one.
func (s *storage) holds(n int) error {
	if len(s.snapshots) != n || s.made > 1 {
		return fmt.Errorf("the backend has %d snapshots of %d that were made, want %d", len(s.snapshots), s.made, n)
	}
	return nil
}

// owned says that something controls an object.
func owned(obj client.Object, kind string) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.Kind == kind && *o.Controller })
}
