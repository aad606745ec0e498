//go:build full

package capture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestVolumesCostLittleMoreThanBare holds a capture, from its request until it is Ready, against a bare content until
// it is ready to use, with a driver that takes a second. In turns, on the same volume.
func TestVolumesCostLittleMoreThanBare(t *testing.T) {
	s := newStage(t)
	source := s.bound("source")
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(source), source); err != nil {
		t.Fatal(err)
	}
	volume := &corev1.PersistentVolume{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Name: source.Spec.VolumeName}, volume); err != nil {
		t.Fatal(err)
	}
	s.Bed.CSI().Proxy().Slow("CreateSnapshot", time.Second)
	const rounds = 15
	var ours, bares []float64
	for i := range rounds {
		ours = append(ours, s.captureTakes(fmt.Sprintf("taken-%d", i), source.Name))
		bares = append(bares, s.bareTakes(fmt.Sprintf("bare-%s-%d", s.Namespace, i), volume))
	}
	slices.Sort(ours)
	slices.Sort(bares)
	mine, bare := ours[rounds/2], bares[rounds/2]
	harness.Row(t, "capture %.3f s, bare content %.3f s (medians of %d): %.3f, %.0f ms more", mine, bare, rounds, mine/bare, 1000*(mine-bare))
}

// look is how often an end is looked for; both are looked for alike.
const look = 5 * time.Millisecond

func (s *stage) captureTakes(name, claim string) float64 {
	s.T.Helper()
	r := capture(name, claim, capturev1.Snapshot)
	began := time.Now()
	s.Create(r)
	harness.Eventually(s.T, within, look, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if len(r.Status.Conditions) == 0 || r.Status.Conditions[0].Status != metav1.ConditionTrue {
			return fmt.Errorf("%s is %s", name, r.Status.Phase)
		}
		return nil
	})
	took := time.Since(began).Seconds()
	s.Delete(r)
	s.AwaitGone(contentOf(r))
	return took
}

func (s *stage) bareTakes(name string, volume *corev1.PersistentVolume) float64 {
	s.T.Helper()
	content := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{"snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": "yes"},
			Finalizers: []string{"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"},
		},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: volume.Spec.CSI.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentRetain, VolumeSnapshotClassName: ptr.To(bed.CSISnapshotClass),
			Source:            snapshotv1.VolumeSnapshotContentSource{VolumeHandle: &volume.Spec.CSI.VolumeHandle},
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: s.Namespace, Name: name, UID: "bare"},
		},
	}
	began := time.Now()
	s.createCluster(content)
	harness.Eventually(s.T, within, look, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(content), content); err != nil {
			return err
		}
		if content.Status == nil || !ptr.Deref(content.Status.ReadyToUse, false) {
			return fmt.Errorf("%s is not ready", name)
		}
		return nil
	})
	took := time.Since(began).Seconds()
	// Without somebody who looks after it, the sidecar may take a quarter of an hour to let go of it.
	s.Delete(content)
	if err := s.Client.Patch(s.T.Context(), content, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
	return took
}

// TestVolumesOutliveTheProduct: uninstalling leaves the kinds, and with them every capture; installed again, it goes
// on with them.
func TestVolumesOutliveTheProduct(t *testing.T) {
	s := newStage(t)
	source := s.bound("source")
	taken := capture("taken", source.Name, capturev1.Snapshot)
	s.Create(taken)
	s.succeeds(taken)
	s.Manager.Stop()
	config := filepath.Join(harness.Root(t), "config")
	run(t, s.Bed, "delete", "--ignore-not-found", "-f", filepath.Join(config, "manager", "capture.yaml"),
		"-f", filepath.Join(config, "admission", "capture"), "-f", filepath.Join(config, "rbac", "capture"))
	if names := s.Kubectl("get", "crd", "-o", "name"); strings.Count(names, "capture.statecraft.dev") != 7 {
		t.Errorf("CRDs that are left: %s", names)
	}
	if row := s.Kubectl("get", "vcr", "--no-headers"); !strings.Contains(row, "Succeeded") {
		t.Errorf("the capture is not what it was: %s", row)
	}
	harness.Install(t, s.Bed, area)
	s.Manager.Start()
	back := restore("back", taken.Name, "restored", atOnce, corev1.PersistentVolumeFilesystem)
	s.Create(back)
	s.succeeds(back)
}
