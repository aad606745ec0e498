//go:build full

package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestFaultsWithoutAKeeperForAMinute: nobody follows requests while they are deleted. They go all the same, and what
// they had made goes once somebody does again.
func TestFaultsWithoutAKeeperForAMinute(t *testing.T) {
	s := newStage(t)
	source, before := s.bound("source"), s.snapshots()
	var taken []*capturev1.VolumeCaptureRequest
	for i := range 20 {
		r := capture(fmt.Sprintf("taken-%d", i), source.Name, capturev1.Snapshot)
		s.Create(r)
		taken = append(taken, r)
	}
	for _, r := range taken {
		s.succeeds(r)
	}
	stays := taken[0]
	s.Manager.Stop()
	for _, r := range taken[1:] {
		s.Delete(r)
		s.AwaitGone(r)
	}
	<-time.After(time.Minute) // this is what is tried
	if now := s.snapshots(); len(now) != len(before)+len(taken) {
		t.Errorf("%d snapshots went while nobody looked", len(before)+len(taken)-len(now))
	}
	s.Manager.Start()
	began := time.Now()
	for _, r := range taken[1:] {
		s.AwaitGone(keeperOf(r))
		s.freed(s.Bed.CSI().Snapshots, r.Status.SnapshotHandle)
	}
	harness.Row(t, "19 of 19 captures gone %s after the manager was back; the 20th stays", time.Since(began).Round(100*time.Millisecond))
	if !s.backendHas(s.Bed.CSI().Snapshots, stays.Status.SnapshotHandle) {
		t.Error("a capture went whose request is there")
	}
}

// TestFaultsOfAQuota: a claim that a quota refuses ends the restore at its deadline, says why, and leaves nothing; a
// quota that is raised in time lets it succeed.
func TestFaultsOfAQuota(t *testing.T) {
	s := newStage(t)
	source := s.bound("source")
	taken := capture("taken", source.Name, capturev1.Snapshot)
	s.Create(taken)
	s.succeeds(taken)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "claims"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: resource.MustParse("1")}},
	}
	s.Create(quota)
	s.Kubectl("wait", "resourcequota/claims", "--for=jsonpath={.status.used.persistentvolumeclaims}=1", "--timeout=60s")
	volumes := s.volumes()
	late, soon := restore("late", taken.Name, "late", atOnce, corev1.PersistentVolumeFilesystem), restore("soon", taken.Name, "soon", atOnce, corev1.PersistentVolumeFilesystem)
	late.Spec.DeadlineSeconds = 15
	s.Create(late)
	s.Create(soon)
	if c := s.ended(late); c.Reason != string(capturev1.ReasonDeadlineExceeded) {
		t.Errorf("a quota was not respected: %s, %s", c.Reason, c.Message)
	}
	if now := s.volumes(); slices.ContainsFunc(now, func(v string) bool { return !slices.Contains(volumes, v) }) {
		t.Errorf("volumes %v, before %v", now, volumes) // those of earlier tests may go meanwhile
	}
	harness.Eventually(t, within, poll, func() error {
		if events := s.Kubectl("get", "events", "-o", "custom-columns=:.message", "--no-headers"); !strings.Contains(events, "exceeded quota") {
			return fmt.Errorf("nobody says why: %s", events)
		}
		return nil
	})
	s.Kubectl("patch", "resourcequota", "claims", "--type=merge", "-p", `{"spec":{"hard":{"persistentvolumeclaims":"5"}}}`)
	s.succeeds(soon)
}
