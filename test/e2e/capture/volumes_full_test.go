//go:build full

package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestVolumesOfBlocksComeBack does the same with a raw device.
func TestVolumesOfBlocksComeBack(t *testing.T) {
	newStage(t).roundTrip(atOnce, corev1.PersistentVolumeBlock)
}

// TestVolumesThatWaitComeBack does the same where a volume is made only when a pod uses it.
func TestVolumesThatWaitComeBack(t *testing.T) {
	newStage(t).roundTrip(waits, corev1.PersistentVolumeFilesystem)
}

const hundred = 100

// TestVolumesAHundredAtOnce captures and restores a hundred volumes side by side, each with contents of its own.
func TestVolumesAHundredAtOnce(t *testing.T) {
	s := newStage(t)
	began := time.Now()
	for i := range hundred {
		s.Create(claim(fmt.Sprintf("source-%d", i), atOnce, corev1.PersistentVolumeFilesystem))
	}
	for i := range hundred {
		path := filepath.Join(s.directory(fmt.Sprintf("source-%d", i)), "contents")
		if err := os.WriteFile(path, []byte(contents(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bound := time.Since(began)
	taken := make([]*capturev1.VolumeCaptureRequest, hundred)
	for i := range taken {
		taken[i] = capture(fmt.Sprintf("taken-%d", i), fmt.Sprintf("source-%d", i), capturev1.Snapshot)
		s.Create(taken[i])
	}
	for _, r := range taken {
		s.succeeds(r)
	}
	captured := time.Since(began) - bound
	back := make([]*capturev1.VolumeRestoreRequest, hundred)
	for i := range back {
		back[i] = restore(fmt.Sprintf("back-%d", i), taken[i].Name, fmt.Sprintf("restored-%d", i), atOnce, corev1.PersistentVolumeFilesystem)
		s.Create(back[i])
	}
	for i, r := range back {
		s.succeeds(r)
		text, err := os.ReadFile(filepath.Join(s.directory(r.Spec.VolumeClaimTemplate.Name), "contents"))
		if err != nil || string(text) != contents(i) {
			t.Errorf("%s holds %q: %v", r.Name, text, err)
		}
	}
	restored := time.Since(began) - bound - captured
	for i := range 5 {
		pod := s.open(fmt.Sprintf("reader-%d", i), claim(back[i*20].Spec.VolumeClaimTemplate.Name, "", corev1.PersistentVolumeFilesystem))
		if text := s.exec(pod, "cat "+mounted+"/contents"); text != contents(i*20) {
			t.Errorf("a pod reads %q", text)
		}
		s.Delete(pod)
	}
	harness.Row(t, "100 of 100 volumes: captured after %s, restored after %s", captured.Round(100*time.Millisecond), restored.Round(100*time.Millisecond))
}

func contents(i int) string { return fmt.Sprintf("this is volume %d", i) }

// directory is where the driver keeps the volume of a claim, once it has one.
func (s *stage) directory(name string) (path string) {
	s.T.Helper()
	harness.Eventually(s.T, within, poll, func() error {
		c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(&c), &c); err != nil {
			return err
		}
		if c.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("claim %s is %s", name, c.Status.Phase)
		}
		var v corev1.PersistentVolume
		if err := s.Client.Get(s.T.Context(), client.ObjectKey{Name: c.Spec.VolumeName}, &v); err != nil {
			return err
		}
		path = s.Bed.CSI().VolumeDir(v.Spec.CSI.VolumeHandle)
		return nil
	})
	return path
}

// TestVolumesOutliveTheirRequest: what is to be retained goes between then and ten seconds later.
func TestVolumesOutliveTheirRequest(t *testing.T) {
	s := newStage(t)
	source := s.bound("source")
	const retained = 20 * time.Second
	taken := capture("taken", source.Name, capturev1.Snapshot)
	taken.Spec.RetainAfterDeletion = &metav1.Duration{Duration: retained}
	s.Create(taken)
	s.succeeds(taken)
	kept := keeperOf(taken)
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
		t.Fatal(err)
	}
	deleted := time.Now()
	s.Delete(taken)
	s.freed(s.Bed.CSI().Snapshots, taken.Status.SnapshotHandle)
	s.AwaitGone(kept)
	after := time.Since(deleted)
	if after < retained || after > retained+10*time.Second {
		t.Errorf("what was to be retained for %s went after %s", retained, after)
	}
	harness.Row(t, "retained for %s, gone after %s", retained, after.Round(100*time.Millisecond))
}
