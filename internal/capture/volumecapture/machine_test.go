package volumecapture

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

type bench = fsmtest.Bench[*capturev1.VolumeCaptureRequest, World]

// snapshots makes a snapshot of a claim that is bound.
func snapshots() bench {
	return bench{
		Machine: &Machine,
		Object:  object,
		World:   world,
		Perform: Perform,
		Settle:  Settle,
		Any:     anything,
		End:     "Succeeded/Completed",
		// A status that is lost while there is only a keeper: nobody knows whether a
		// snapshot was made and deleted.
		Also: []string{"Failed/StatusLost"},
		Safe: safe,
	}
}

// detaches takes a volume.
func detaches() bench {
	b := snapshots()
	b.Object = func() *capturev1.VolumeCaptureRequest {
		r := object()
		r.Spec.Mode = capturev1.Detach
		return r
	}
	return b
}

func object() *capturev1.VolumeCaptureRequest {
	r := &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "r1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt},
		Spec: capturev1.VolumeCaptureRequestSpec{
			Target: capturev1.ClaimTarget{Name: "data"}, Mode: capturev1.Snapshot, DeadlineSeconds: 600,
			OnTransientError: capturev1.WaitUntilDeadline,
		},
	}
	r.Status.ObservedGeneration = -1
	return r
}

func world() World {
	return World{
		Keeping: request.Keeping{Sight: presence.Gone, Namespace: "n1"},
		Rights:  request.Rights{Sight: request.Granted},
		Claim:   Claim{Sight: presence.Here, UID: "c1", ResourceVersion: "3", Bound: true},
		Volume: Volume{Sight: presence.Here, Name: "pv1", UID: "v1", ResourceVersion: "4", Driver: "csi", Handle: "h1", Mode: "Filesystem",
			Policy: "Delete", ClaimUID: "c1"},
		Class:   Class{Sight: ClassFound, Name: "fast"},
		Content: Content{Sight: presence.Gone},
		Users:   Users{Looked: true},
		Holder:  Holder{Sight: presence.Gone},
	}
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, snapshots()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, snapshots()) }

func TestDetachPath(t *testing.T) { fsmtest.Drill(t, detaches()) }

// TestUnboundPath drills a claim that is bound after its request was made.
func TestUnboundPath(t *testing.T) {
	b := snapshots()
	b.World = func() World {
		w := world()
		w.Claim.Bound, w.Volume.ClaimUID = false, ""
		return w
	}
	fsmtest.Drill(t, b)
}

// TestDriverErrorPath drills a request that does not wait for the driver to recover.
func TestDriverErrorPath(t *testing.T) {
	b := snapshots()
	b.Object = func() *capturev1.VolumeCaptureRequest {
		r := object()
		r.Spec.OnTransientError = capturev1.FailAtOnce
		return r
	}
	b.Settle, b.End = broken, "Failed/DriverError"
	fsmtest.Drill(t, b)
}

// TestDeadlinePath drills a driver that never recovers.
func TestDeadlinePath(t *testing.T) {
	b := snapshots()
	b.Settle, b.End = broken, "Failed/DeadlineExceeded"
	fsmtest.Drill(t, b)
}

// broken is a driver that fails, and can delete.
func broken(r *capturev1.VolumeCaptureRequest, w World) World {
	if w.Content.Sight == presence.Here && !w.Content.Deleting && w.Self == r.Status.Phase {
		w.Content.Error = "the disk is on fire"
		return w
	}
	return Settle(r, w)
}

// A claim that a pod uses is refused before anything is written.
func TestAClaimInUseIsRefusedAtOnce(t *testing.T) {
	r, w := object(), world()
	r.Spec.Mode, r.Status.Phase, w.Users.Pod = capturev1.Detach, Pending, "web-0"
	s, err := Machine.Step(input{Obj: r, World: w, Now: createdAt.Time})
	if err != nil || len(s.Decision.Do) > 0 || len(s.Hops) != 1 || s.Hops[0].To != Failed || s.Hops[0].Reason != capturev1.ReasonInUse {
		t.Errorf("%v: %v, %v", err, s.Hops, s.Decision.Do)
	}
}

// TestInUsePath drills a pod that comes when the volume is marked: the mark is taken back.
func TestInUsePath(t *testing.T) {
	b := detaches()
	b.Settle = func(r *capturev1.VolumeCaptureRequest, w World) World {
		if w.Volume.Mark.By != "" {
			w.Users.Pod = "late"
		}
		return Settle(r, w)
	}
	b.End = "Failed/InUse"
	fsmtest.Drill(t, b)
}

// TestGoingVolumePath drills a volume that somebody deletes when it is marked: the mark is taken back.
func TestGoingVolumePath(t *testing.T) {
	b := detaches()
	b.Settle = func(r *capturev1.VolumeCaptureRequest, w World) World {
		if w.Volume.Mark.By != "" {
			w.Volume.Deleting = true
		}
		return Settle(r, w)
	}
	b.End = "Failed/InvalidTarget"
	fsmtest.Drill(t, b)
}

// TestStuckClaimPath drills a claim that does not go: the volume is left as it is.
func TestStuckClaimPath(t *testing.T) {
	b := detaches()
	b.Settle, b.End = func(r *capturev1.VolumeCaptureRequest, w World) World { w.Self = r.Status.Phase; return w }, "Failed/DeadlineExceeded"
	fsmtest.Drill(t, b)
}

func TestMissingClaimPath(t *testing.T) {
	b := snapshots()
	b.World = func() World { w := world(); w.Claim, w.Volume = Claim{Sight: presence.Gone}, Volume{}; return w }
	b.End = "Failed/NotFound"
	fsmtest.Drill(t, b)
}
