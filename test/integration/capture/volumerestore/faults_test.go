package volumerestore

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// survivesKills kills the restorer after each thing that it does, half of the times with an
// answer of the driver lost besides.
func survivesKills(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	for i := range 10 {
		after := i % 5
		if i >= 5 {
			s.csi.Proxy().Lose("CreateVolume", codes.DeadlineExceeded, 1)
		}
		name := fmt.Sprintf("back-%d", i)
		before := s.restorer.effects()
		s.create(t, restoreOf(namespace, name, bed.CSIClass))
		harness.Eventually(t, storageTakes, glance, func() error {
			if done := s.restorer.effects() - before; done < after {
				return fmt.Errorf("%d of %d effects", done, after)
			}
			return nil
		})
		s.restorer.kill(t)
		s.restorer.start(t, alone)
		s.ended(t, restoreOf(namespace, name, ""), capturev1.ReasonCompleted)
		s.holds(t, namespace, name, orders)
	}
	s.nothingLeaks(t)
}

func survivesLostAnswers(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	s.csi.Proxy().Lose("CreateVolume", codes.DeadlineExceeded, 2)
	r := restoreOf(namespace, "back", bed.CSIClass)
	r.Spec.OnTransientError = capturev1.FailAtOnce // a lost answer is no error of the driver
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonCompleted)
	s.holds(t, namespace, "back", orders)
	s.nothingLeaks(t)
}

func endsWithTheDriver(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	s.csi.Proxy().Fail("CreateVolume", codes.ResourceExhausted, csiproxy.Always)
	r := restoreOf(namespace, "back", bed.CSIClass)
	r.Spec.OnTransientError = capturev1.FailAtOnce
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonDriverError)
	s.csi.Proxy().Clear() // until it has room again nobody can tell whether there is a volume
	s.missing(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "back"}})
	s.nothingLeaks(t)
}

func waitsForTheDriver(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	s.csi.Proxy().Fail("CreateVolume", codes.Internal, 3)
	r := restoreOf(namespace, "back", bed.CSIClass)
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonCompleted)
	s.holds(t, namespace, "back", orders)
	s.nothingLeaks(t)
	claim := s.claimed(t, r)
	for _, c := range claim.Status.Conditions {
		if c.Type == capturev1.RestoreCondition {
			t.Errorf("the claim still says what stood in the way: %+v", c)
		}
	}
}

func deletedHalfWay(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	calls := s.csi.Proxy().Calls("CreateVolume")
	release := s.csi.Proxy().Hold("CreateVolume")
	r := restoreOf(namespace, "back", bed.CSIClass)
	s.create(t, r)
	harness.Eventually(t, storageTakes, poll, func() error {
		if s.csi.Proxy().Calls("CreateVolume") == calls {
			return fmt.Errorf("the driver was not asked yet")
		}
		return nil
	})
	if err := s.client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	release()
	s.missing(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "back"}})
	s.nothingLeaks(t)

	// Before the driver was asked there is no intent; the claim tells of the request.
	waits := restoreOf(namespace, "waits", bed.CSIWaitClass)
	s.create(t, waits)
	claim := s.claimed(t, waits)
	s.restorer.kill(t)
	if err := s.client.Delete(t.Context(), waits); err != nil {
		t.Fatal(err)
	}
	s.restorer.start(t, alone)
	s.missing(t, claim)
	harness.Consistently(t, time.Second, poll, func() error {
		return s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "data"}, &corev1.PersistentVolumeClaim{})
	})
}
