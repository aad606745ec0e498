package manifestcapture

import (
	"testing"
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// TestAForgottenCaptureIsVerifiedHoweverLate: the status of a capture that was Ready for long is lost. Its checkpoint is
// there, and so is looked at again; its deadline, which is long past, must not remove it.
func TestAForgottenCaptureIsVerifiedHoweverLate(t *testing.T) {
	b := newBench()
	in := input{Obj: b.Object(), World: b.World(), Now: createdAt.Add(24 * time.Hour)}
	in.World.Keeping = request.Keeping{Sight: presence.Here, UID: "keeper"}
	in.World.Checkpoint = Checkpoint{Sight: presence.Here, Name: "c", UID: "checkpoint", Found: Found{Expected: 3}, ResourceVersion: "100"}
	for range 6 {
		in = spared(t, in)
		in.World = Settle(in.Obj, in.World)
		in.Now = in.Now.Add(time.Second)
	}
	if in.Obj.Status.Phase != Succeeded {
		t.Errorf("ends %s", in.Obj.Status.Phase)
	}
}

// spared is what comes of one pass, in which nothing is removed.
func spared(t *testing.T, in input) input {
	t.Helper()
	s, err := Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Decision.Do {
		if _, removes := e.(Remove); removes {
			t.Fatal("removes the checkpoint")
		}
		in.World = Perform(in.World, e)
	}
	in.Obj = Machine.Reduce(in, s, nil).Obj
	return in
}

// TestAForgottenCaptureOutlivesItsKey: the status of a capture that was Ready for long is lost, and at that moment the key
// is missing. If it comes back in time the capture is Ready again; if not, it fails, and its checkpoint stays.
func TestAForgottenCaptureOutlivesItsKey(t *testing.T) {
	for back, want := range map[time.Duration]fsm.Phase{5 * time.Minute: Succeeded, time.Hour: Failed} {
		b := newBench()
		begun := createdAt.Add(24 * time.Hour)
		in := input{Obj: b.Object(), World: b.World(), Now: begun}
		in.World.Keeping = request.Keeping{Sight: presence.Here, UID: "keeper"}
		in.World.Checkpoint = Checkpoint{Sight: presence.Here, Name: "c", UID: "checkpoint", Found: Found{Expected: 3}, ResourceVersion: "100"}
		in.World.Leftovers = []Leftover{{KindCheckpoint, "c", "checkpoint", "1"}}
		for in.Now.Before(begun.Add(time.Hour)) {
			in = spared(t, in)
			if in.World = Settle(in.Obj, in.World); in.World.Work.State == Ended && in.Now.Before(begun.Add(back)) {
				in.World.Work.Checked, in.World.Work.Verdict = nil, &manifest.Refusal{Reason: capturev1.ReasonKeyMissing, Message: "There is no key."}
			}
			in.Now = in.Now.Add(20 * time.Second)
		}
		if in.Obj.Status.Phase != want {
			t.Errorf("a key that is back after %s: ends %s", back, in.Obj.Status.Phase)
		}
	}
}

// TestAForgottenCaptureStaysWhateverItFailsFor: it may have been Ready for long, and what is left of it may be all there is.
// One that never was Ready is removed.
func TestAForgottenCaptureStaysWhateverItFailsFor(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		for _, why := range []meta.Reason{
			capturev1.ReasonIncomplete, capturev1.ReasonTampered, capturev1.ReasonKeyMissing, capturev1.ReasonDeadlineExceeded, capturev1.ReasonArtifactLost,
		} {
			in := input{Obj: newRequest(), World: newBench().World(), Now: createdAt.Time}
			in.Obj.Status.Phase, in.Obj.Status.Failure = CleaningUp, &capturev1.RequestFailure{Reason: why, Message: "A chunk is gone."}
			if forgotten {
				in.Obj.Status.History = []meta.Transition{{To: Verifying, Event: fsm.Lost}}
			}
			in.World.Leftovers = []Leftover{{KindCheckpoint, "c", "checkpoint", "1"}}
			if d := decideCleaningUp(in); forgotten != (len(d.Do) == 0) {
				t.Errorf("forgotten %v, %s: %s %s", forgotten, why, d.On, d.Reason)
			}
		}
	}
}
