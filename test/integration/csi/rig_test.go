// Package csi tests the storage of the test bed: what it promises is what tests of captures lean on.
package csi

import (
	"context"
	"slices"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	soon     = timeout.Wait
	askEvery = 50 * time.Millisecond

	beingDeleted = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
	protection   = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
)

func TestMain(m *testing.M) { bedtest.Main(m) }

// rig is one test's view of the bed that all share. Tests here run one after another: a fault is everybody's.
type rig struct {
	*testing.T
	client    client.Client
	csi       *bed.CSIDriver
	namespace string
}

func newRig(t *testing.T) rig {
	t.Helper()
	return rigOn(t, bedtest.ControlPlane(t, bed.CSI))
}

func rigOn(t *testing.T, b *bed.Bed) rig {
	t.Helper()
	c := harness.Client(t, b, snapshotv1.AddToScheme)
	t.Cleanup(b.CSI().Proxy().Clear)
	return rig{T: t, client: c, csi: b.CSI(), namespace: bedtest.Namespace(t, b)}
}

func (r rig) create(object client.Object) {
	r.Helper()
	if err := r.client.Create(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

func (r rig) delete(object client.Object) {
	r.Helper()
	if err := r.client.Delete(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

// claim makes a claim, waits until it is bound and returns it with the handle of its volume.
func (r rig) claim(name string, change func(*corev1.PersistentVolumeClaim)) (*corev1.PersistentVolumeClaim, string) {
	r.Helper()
	claim := r.unboundClaim(name, change)
	r.create(claim)
	return claim, r.bound(claim)
}

func (r rig) unboundClaim(name string, change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new(bed.CSIClass),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")},
			},
		},
	}
	if change != nil {
		change(claim)
	}
	return claim
}

// bound waits until a claim is bound and returns the handle of its volume.
func (r rig) bound(claim *corev1.PersistentVolumeClaim) string {
	r.Helper()
	r.eventually("claim "+claim.Name+" to be bound", func(ctx context.Context) (any, bool) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return claim.Status, err == nil && claim.Status.Phase == corev1.ClaimBound
	})
	volume := &corev1.PersistentVolume{}
	if err := r.client.Get(r.Context(), client.ObjectKey{Name: claim.Spec.VolumeName}, volume); err != nil {
		r.Fatal(err)
	}
	return volume.Spec.CSI.VolumeHandle
}

// content asks for a snapshot of a volume as a capture does: directly, without a VolumeSnapshot.
func (r rig) content(handle string) *snapshotv1.VolumeSnapshotContent {
	r.Helper()
	id := uuid.NewUUID()
	content := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "capture-" + string(id),
			Annotations: map[string]string{beingDeleted: "yes"},
			Finalizers:  []string{protection},
		},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: bed.DriverName, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			VolumeSnapshotClassName: new(bed.CSISnapshotClass),
			Source:                  snapshotv1.VolumeSnapshotContentSource{VolumeHandle: &handle},
			VolumeSnapshotRef:       corev1.ObjectReference{Namespace: r.namespace, Name: string(id), UID: id},
		},
	}
	r.create(content)
	return content
}

// ready waits until the snapshot can be used and returns its handle.
func (r rig) ready(content *snapshotv1.VolumeSnapshotContent) string {
	r.Helper()
	r.eventually("snapshot "+content.Name, func(ctx context.Context) (any, bool) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(content), content)
		status := content.Status
		return status, err == nil && status != nil && status.ReadyToUse != nil && *status.ReadyToUse
	})
	return *content.Status.SnapshotHandle
}

// gone waits until an object is deleted.
func (r rig) gone(object client.Object) {
	r.Helper()
	r.eventually(object.GetName()+" to be gone", func(ctx context.Context) (any, bool) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return object, client.IgnoreNotFound(err) == nil && err != nil
	})
}

// snapshots and volumes are what the backend has beyond what it had.
func (r rig) snapshots(before []string) []string {
	r.Helper()
	now, err := r.csi.Snapshots()
	return without(r.T, now, before, err)
}

func (r rig) volumes(before []string) []string {
	r.Helper()
	now, err := r.csi.Volumes()
	return without(r.T, now, before, err)
}

func without(t *testing.T, now, before []string, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(now, func(handle string) bool { return slices.Contains(before, handle) })
}

func (r rig) eventually(what string, ask func(context.Context) (any, bool)) {
	r.Helper()
	var last any
	err := wait.PollUntilContextTimeout(r.Context(), askEvery, soon, true, func(ctx context.Context) (bool, error) {
		var done bool
		last, done = ask(ctx)
		return done, nil
	})
	if err != nil {
		r.Fatalf("wait for %s: %v; last seen: %+v", what, err, last)
	}
}

// usable waits until a VolumeSnapshot can be restored from.
func (r rig) usable(snapshot *snapshotv1.VolumeSnapshot) {
	r.Helper()
	r.eventually("snapshot "+snapshot.Name, func(ctx context.Context) (any, bool) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(snapshot), snapshot)
		status := snapshot.Status
		return status, err == nil && status != nil && status.ReadyToUse != nil && *status.ReadyToUse
	})
}
