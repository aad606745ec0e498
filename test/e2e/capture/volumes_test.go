package capture

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// planted makes a claim, lets a pod write into it, and returns what it holds.
func (s *stage) planted(name, class string, mode corev1.PersistentVolumeMode) (c *corev1.PersistentVolumeClaim, pod *corev1.Pod, holds string) {
	s.T.Helper()
	write, tell := scripts(mode)
	c = claim(name, class, mode)
	s.Create(c)
	pod = s.open(name+"-writer", c)
	s.exec(pod, write)
	return c, pod, s.exec(pod, tell)
}

func scripts(mode corev1.PersistentVolumeMode) (write, tell string) {
	if mode == corev1.PersistentVolumeBlock {
		return plantDevice, digestDevice
	}
	return plant, digest
}

// same says that a restored claim holds what was captured.
func (s *stage) same(restored *capturev1.VolumeRestoreRequest, mode corev1.PersistentVolumeMode, want string) *corev1.PersistentVolumeClaim {
	s.T.Helper()
	c := claim(restored.Spec.VolumeClaimTemplate.Name, "", mode)
	pod := s.open(c.Name+"-reader", c)
	_, tell := scripts(mode)
	if got := s.exec(pod, tell); got != want {
		s.T.Errorf("%s holds %s, and %s was captured\n%s", c.Name, got, want, s.exec(pod, "find "+mounted+" | head -50"))
	}
	s.Delete(pod)
	s.AwaitGone(pod)
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.Namespace, Name: c.Name}, c); err != nil {
		s.T.Fatal(err)
	}
	return c
}

// roundTrip captures a volume, destroys it, and restores it.
func (s *stage) roundTrip(class string, volumes corev1.PersistentVolumeMode) {
	t := s.T
	source, pod, want := s.planted("source", class, volumes)
	taken := capture("taken", source.Name, capturev1.Snapshot)
	s.Create(taken)
	s.succeeds(taken)
	s.Delete(pod)
	s.AwaitGone(pod)
	s.Delete(source)
	s.AwaitGone(source)

	back := restore("back", taken.Name, "restored", class, volumes)
	s.Create(back)
	if class != waits {
		s.succeeds(back)
	}
	restored := s.same(back, volumes, want)
	s.succeeds(back)
	if ref := back.Status.PVCRef; ref == nil || ref.UID != restored.UID {
		t.Errorf("status names %+v, and the claim is %s", ref, restored.UID)
	}

	// What was captured goes with its request, down to the backend; what was restored stays.
	handle, kept := taken.Status.SnapshotHandle, keeperOf(taken)
	if !s.backendHas(s.Bed.CSI().Snapshots, handle) {
		t.Errorf("the driver does not have snapshot %s", handle)
	}
	s.Delete(taken)
	s.Delete(back)
	s.AwaitGone(taken)
	s.AwaitGone(kept)
	s.freed(s.Bed.CSI().Snapshots, handle)
	s.same(back, volumes, want)
}

// Classes of the bed.
const (
	atOnce = "csi"
	waits  = "csi-wait"
)

// TestVolumesComeBack captures a volume, destroys it, and restores it, byte by byte.
func TestVolumesComeBack(t *testing.T) {
	newStage(t).roundTrip(atOnce, corev1.PersistentVolumeFilesystem)
}

// TestVolumesAreMoved takes a volume from its claim, where nobody else can bind it, and gives it to another.
func TestVolumesAreMoved(t *testing.T) {
	s := newStage(t)
	source, pod, want := s.planted("source", atOnce, corev1.PersistentVolumeFilesystem)
	early := capture("early", source.Name, capturev1.Detach)
	s.Create(early)
	if c := s.ended(early); c.Reason != string(capturev1.ReasonInUse) {
		t.Fatalf("a claim that a pod uses was detached: %s, %s", c.Reason, c.Message)
	}
	s.Delete(pod)
	s.AwaitGone(pod)

	taken := capture("taken", source.Name, capturev1.Detach)
	s.Create(taken)
	s.succeeds(taken)
	s.AwaitGone(source)
	back := restore("back", taken.Name, "restored", atOnce, corev1.PersistentVolumeFilesystem)
	s.Create(back)
	s.succeeds(back)
	s.same(back, corev1.PersistentVolumeFilesystem, want)
	again := restore("again", taken.Name, "another", atOnce, corev1.PersistentVolumeFilesystem)
	s.Create(again)
	if c := s.ended(again); c.Reason != string(capturev1.ReasonSourceConsumed) {
		t.Errorf("a volume was moved twice: %s, %s", c.Reason, c.Message)
	}
	s.Delete(taken)
	s.Delete(back)
	s.AwaitGone(taken)
	s.AwaitGone(keeperOf(taken))
	restored := s.same(back, corev1.PersistentVolumeFilesystem, want)

	// It is a volume like any other by now: it can be taken once more.
	last := capture("last", restored.Name, capturev1.Detach)
	s.Create(last)
	s.succeeds(last)
}
