package manifestcapture

import (
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// TestAForgottenCaptureIsVerifiedHoweverLate: the status of a capture that was Ready for long is lost. Its checkpoint is
// there, and so is looked at again; its deadline, which is long past, must not remove it.
func TestAForgottenCaptureIsVerifiedHoweverLate(t *testing.T) {
	b := newBench()
	in := input{Obj: b.Object(), World: b.World(), Now: born.Add(24 * time.Hour)}
	in.World.Keeping = request.Keeping{Sight: request.Ours, UID: "keeper"}
	in.World.Checkpoint = Checkpoint{Sight: request.Ours, Name: "c", UID: "checkpoint", Found: Found{Expected: 3}, ResourceVersion: "100"}
	for range 6 {
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
		in.World = Settle(in.Obj, in.World)
		in.Now = in.Now.Add(time.Second)
	}
	if in.Obj.Status.Phase != Succeeded {
		t.Errorf("ends %s", in.Obj.Status.Phase)
	}
}
