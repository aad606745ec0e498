package csi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/test/bed"
)

func TestAClaimIsBoundAndItsVolumeGoesWithIt(t *testing.T) {
	r := newRig(t)
	before := r.volumes(nil)
	claim, handle := r.claim("data", nil)
	if diff := cmp.Diff([]string{handle}, r.volumes(before)); diff != "" {
		t.Errorf("volumes of the backend (-want +got):\n%s", diff)
	}
	r.delete(claim)
	r.gone(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}})
	if left := r.volumes(before); len(left) > 0 {
		t.Errorf("volumes %q outlived their claim", left)
	}
}

func TestARetainedVolumeOutlivesItsClaim(t *testing.T) {
	r := newRig(t)
	claim, handle := r.claim("kept", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new(bed.CSIRetainClass) })
	r.delete(claim)
	r.gone(claim)
	if _, err := os.Stat(r.csi.VolumeDir(handle)); err != nil {
		t.Error(err)
	}
}

func TestSnapshotsOfOneVolumeAreKeptApartAndRestored(t *testing.T) {
	r := newRig(t)
	claim, handle := r.claim("data", nil)
	before := r.snapshots(nil)
	for _, state := range []string{"first", "second"} {
		write(t, r.csi.VolumeDir(handle), state)
		snapshot := &snapshotv1.VolumeSnapshot{
			ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: state},
			Spec: snapshotv1.VolumeSnapshotSpec{
				Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &claim.Name},
			},
		}
		r.create(snapshot)
		r.usable(snapshot)
	}
	if got := r.snapshots(before); len(got) != 2 {
		t.Errorf("snapshots %q, want 2", got)
	}
	for _, state := range []string{"first", "second"} {
		_, restored := r.claim("from-"+state, func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSource = &corev1.TypedLocalObjectReference{
				APIGroup: new(snapshotv1.GroupName), Kind: "VolumeSnapshot", Name: state,
			}
		})
		if got := read(t, r.csi.VolumeDir(restored)); got != state {
			t.Errorf("restored %q, want %q", got, state)
		}
	}
}

func TestAVolumeIsCloned(t *testing.T) {
	r := newRig(t)
	_, handle := r.claim("data", nil)
	write(t, r.csi.VolumeDir(handle), "original")
	_, clone := r.claim("clone", func(c *corev1.PersistentVolumeClaim) {
		c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "data"}
	})
	if got := read(t, r.csi.VolumeDir(clone)); got != "original" {
		t.Errorf("clone holds %q", got)
	}
}

func write(t *testing.T, volume, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(volume, "file"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, volume string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(volume, "file"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
