//go:build full

package capture

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	claims  = 5
	each    = 20 // lifecycles under one fault
	tooLate = 25 // seconds after which a request is given up that cannot succeed
)

// fault is something that goes wrong while volumes are captured and restored.
type fault struct {
	begin func(*stage) // before the requests are made
	then  func(*stage) // while they are under way
	// reason is how requests end; "" is that they succeed.
	reason string
}

var faults = map[string]fault{
	"a slow driver":          {begin: func(s *stage) { s.Bed.CSI().Proxy().Slow("CreateSnapshot", 30*time.Second) }},
	"five failures":          {begin: func(s *stage) { s.Bed.CSI().Proxy().Fail("CreateSnapshot", codes.Internal, 5) }},
	"failures for ever":      {begin: func(s *stage) { s.Bed.CSI().Proxy().Fail("CreateSnapshot", codes.Internal, csiproxy.Always) }, reason: string(capturev1.ReasonDeadlineExceeded)},
	"lost captures":          {begin: func(s *stage) { s.Bed.CSI().Proxy().Lose("CreateSnapshot", codes.DeadlineExceeded, 10) }},
	"lost deletions":         {begin: func(s *stage) { s.Bed.CSI().Proxy().Lose("DeleteSnapshot", codes.DeadlineExceeded, 10) }},
	"lost volumes":           {begin: func(s *stage) { s.Bed.CSI().Proxy().Lose("CreateVolume", codes.DeadlineExceeded, 5) }},
	"no snapshotter":         {begin: func(s *stage) { s.pause(bed.SnapshotterSidecar) }, then: func(s *stage) { s.resume(bed.SnapshotterSidecar) }},
	"no snapshot-controller": {begin: func(s *stage) { s.pause(bed.SnapshotController) }, then: func(s *stage) { s.resume(bed.SnapshotController) }},
	"a manager that dies": {then: func(s *stage) {
		for range 10 {
			s.Manager.Kill()
			s.Manager.Start()
			<-time.After(500 * time.Millisecond) // between two deaths
		}
	}},
	"a restorer that dies": {then: func(s *stage) {
		for range 10 {
			s.pause(restorer)
			s.resume(restorer)
			<-time.After(500 * time.Millisecond) // between two deaths
		}
	}},
}

func (s *stage) pause(sidecar string) {
	s.T.Helper()
	if err := s.Bed.CSI().StopSidecar(s.T.Context(), sidecar); err != nil {
		s.T.Fatal(err)
	}
}

func (s *stage) resume(sidecar string) {
	s.T.Helper()
	if err := s.Bed.CSI().StartSidecar(sidecar); err != nil {
		s.T.Fatal(err)
	}
}

// TestFaultsLeaveNothing captures and restores under every fault, and deletes everything: in the end the backend has what
// it had before, and nothing else.
func TestFaultsLeaveNothing(t *testing.T) {
	s := newStage(t)
	for i := range claims {
		s.bound(fmt.Sprintf("source-%d", i))
	}
	snapshots, volumes := s.snapshots(), s.volumes()
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) {
			s.of(t).suffer(faults[name])
		})
	}
	harness.Eventually(t, 3*time.Minute, time.Second, func() error {
		if now := s.snapshots(); !slices.Equal(now, snapshots) {
			return fmt.Errorf("snapshots %v, before %v", now, snapshots)
		}
		if now := s.volumes(); !slices.Equal(now, volumes) {
			return fmt.Errorf("volumes %v, before %v", now, volumes)
		}
		return nil
	})
	harness.Row(t, "%d lifecycles under %d faults: nothing leaked, nothing wrongly deleted", each*len(faults), len(faults))
}

func (s *stage) volumes() []string {
	s.T.Helper()
	list, err := s.Bed.CSI().Volumes()
	if err != nil {
		s.T.Fatal(err)
	}
	return list
}

// suffer runs lifecycles under one fault: captures, of which every fourth is restored, until all is deleted again.
func (s *stage) suffer(f fault) {
	s.T.Cleanup(s.Bed.CSI().Proxy().Clear)
	if f.begin != nil {
		f.begin(s)
	}
	began := time.Now()
	taken := make([]*capturev1.VolumeCaptureRequest, each)
	for i := range taken {
		taken[i] = capture(fmt.Sprintf("taken-%d", i), "source-"+strconv.Itoa(i%claims), capturev1.Snapshot)
		taken[i].Spec.DeadlineSeconds = 180
		if f.reason != "" {
			taken[i].Spec.DeadlineSeconds = tooLate
		}
		s.Create(taken[i])
	}
	if f.then != nil {
		f.then(s)
	}
	for _, r := range taken {
		s.judged(r, f.reason)
	}
	captured := time.Since(began)
	var made []*capturev1.VolumeRestoreRequest
	for i, r := range taken {
		if i%4 == 0 && f.reason == "" {
			made = append(made, restore(fmt.Sprintf("back-%d", i), r.Name, fmt.Sprintf("restored-%d", i), atOnce, corev1.PersistentVolumeFilesystem))
			s.Create(made[len(made)-1])
		}
	}
	if f.then != nil && len(made) > 0 {
		if f.begin != nil {
			f.begin(s)
		}
		f.then(s)
	}
	for _, r := range made {
		s.judged(r, "")
		s.Delete(r)
		restored := claim(r.Spec.VolumeClaimTemplate.Name, "", corev1.PersistentVolumeFilesystem)
		restored.Namespace = s.Namespace
		s.Delete(restored)
	}
	for _, r := range taken {
		s.Delete(r)
	}
	s.Bed.CSI().Proxy().Clear()
	for _, r := range taken {
		s.AwaitGone(keeperOf(r))
	}
	harness.Row(s.T, "%d captures, judged after %s; %d restores", each, captured.Round(100*time.Millisecond), len(made))
}

// contentOf is the snapshot of a request, as Kubernetes knows it.
func contentOf(r *capturev1.VolumeCaptureRequest) *snapshotv1.VolumeSnapshotContent {
	return &snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: volumecapture.ContentName(r.UID)}}
}

// judged waits for the right verdict.
func (s *stage) judged(r request, reason string) {
	s.T.Helper()
	c := s.endedWithin(r, 4*time.Minute)
	if reason == "" && c.Status != metav1.ConditionTrue || reason != "" && c.Reason != reason {
		s.T.Errorf("%s: %s, %s", r.GetName(), c.Reason, c.Message)
	}
}

// TestFaultsDeletedWhileCapturedFiftyTimes: requests go at all moments of a slow CreateSnapshot. Nothing is left, and
// nothing hangs.
func TestFaultsDeletedWhileCapturedFiftyTimes(t *testing.T) {
	s := newStage(t)
	for i := range claims {
		s.bound(fmt.Sprintf("source-%d", i))
	}
	before := s.snapshots()
	s.Bed.CSI().Proxy().Slow("CreateSnapshot", time.Second)
	slowest := time.Duration(0)
	for round := range 10 {
		var taken []*capturev1.VolumeCaptureRequest
		for i := range claims {
			r := capture(fmt.Sprintf("taken-%d", i), fmt.Sprintf("source-%d", i), capturev1.Snapshot)
			s.Create(r)
			taken = append(taken, r)
		}
		<-time.After(time.Duration(round) * 150 * time.Millisecond) // another moment in each round
		deleted := time.Now()
		for _, r := range taken {
			s.Delete(r)
		}
		for _, r := range taken {
			s.AwaitGone(r)
			s.AwaitGone(keeperOf(r))
			s.AwaitGone(contentOf(r))
		}
		slowest = max(slowest, time.Since(deleted))
	}
	harness.Eventually(t, within, poll, func() error {
		if now := s.snapshots(); !slices.Equal(now, before) {
			return fmt.Errorf("snapshots %v, before %v", now, before)
		}
		return nil
	})
	harness.Row(t, "50 of 50 left nothing; the slowest was gone after %s", slowest.Round(100*time.Millisecond))
}

// of is the stage for a test within a test.
func (s *stage) of(t *testing.T) *stage {
	within := *s.Stage
	within.T = t
	return &stage{&within}
}
