package capture

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// bound makes a claim that has its volume.
func (s *stage) bound(name string) *corev1.PersistentVolumeClaim {
	s.T.Helper()
	c := claim(name, atOnce, corev1.PersistentVolumeFilesystem)
	s.Create(c)
	s.Kubectl("wait", "pvc/"+name, "--for=jsonpath={.status.phase}=Bound", "--timeout=60s")
	return c
}

// TestFaultsALostAnswer: the driver makes a snapshot and nobody hears of it. There is one in the end.
func TestFaultsALostAnswer(t *testing.T) {
	s := newStage(t)
	source, before := s.bound("source"), len(s.snapshots())
	s.Bed.CSI().Proxy().Lose("CreateSnapshot", codes.DeadlineExceeded, 1)
	taken := capture("taken", source.Name, capturev1.Snapshot)
	s.Create(taken)
	s.succeeds(taken)
	if n := len(s.snapshots()); n != before+1 {
		t.Errorf("%d snapshots, and %d before", n, before)
	}
	s.Delete(taken)
	s.freed(s.Bed.CSI().Snapshots, taken.Status.SnapshotHandle)
}

// TestFaultsDeletedWhileCaptured: the request goes while its snapshot is being made. Nothing is left.
func TestFaultsDeletedWhileCaptured(t *testing.T) {
	s := newStage(t)
	source, before := s.bound("source"), len(s.snapshots())
	release := s.Bed.CSI().Proxy().Hold("CreateSnapshot")
	taken := capture("taken", source.Name, capturev1.Snapshot)
	calls := s.Bed.CSI().Proxy().Calls("CreateSnapshot")
	s.Create(taken)
	harness.Eventually(t, within, poll, func() error {
		if s.Bed.CSI().Proxy().Calls("CreateSnapshot") == calls {
			return fmt.Errorf("the driver was not asked")
		}
		return nil
	})
	kept := keeperOf(taken)
	s.Delete(taken)
	s.AwaitGone(taken)
	release()
	started := time.Now()
	s.AwaitGone(kept)
	harness.Eventually(t, within, poll, func() error {
		if n := len(s.snapshots()); n != before {
			return fmt.Errorf("%d snapshots, and %d before", n, before)
		}
		return nil
	})
	t.Logf("nothing was left after %s", time.Since(started).Round(100*time.Millisecond))
}
