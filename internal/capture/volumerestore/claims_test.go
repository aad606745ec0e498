package volumerestore

import (
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// TestWhatSpeaksAgainstARestore holds every refusal to what speaks against it, one at a time.
func TestWhatSpeaksAgainstARestore(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*input)
		want   fsm.Reason
	}{
		"nothing":               {func(*input) {}, ReasonAccepted},
		"a claim that is there": {func(in *input) { in.World.Claim.Sight = presence.Other }, capturev1.ReasonNameTaken},
		"another driver":        {func(in *input) { in.World.Source.Class.Provisioner = "tapes.example.com" }, capturev1.ReasonInvalidTarget},
		"a rehearsal with the only copy": {func(in *input) {
			in.World.Source, in.Obj.Spec.Rehearsal = detached(), &capturev1.Rehearsal{}
		}, capturev1.ReasonInvalidTarget},
	} {
		in := input{Obj: newRequest(), World: newBench().World(), Now: createdAt.Time}
		c.change(&in)
		if d := decidePending(in); d.Reason != c.want {
			t.Errorf("%s: %s, want %s", what, d.Reason, c.want)
		}
	}
}

// TestAReservedClaimIsLeft: what was restored with it waits for it. Where it is left, the words say so.
func TestAReservedClaimIsLeft(t *testing.T) {
	in := input{Obj: newRequest(), World: newBench().World(), Now: createdAt.Time}
	in.Obj.Status.Phase, in.Obj.Status.Failure = CleaningUp, &capturev1.RequestFailure{Reason: capturev1.ReasonDeadlineExceeded, Message: "Too late."}
	in.World.Claim = Claim{Sight: presence.Here, UID: "claim", ResourceVersion: "1", Reserved: true}
	if d := decideCleaningUp(in); len(d.Do) > 0 || d.On != Cleaned || !strings.HasPrefix(d.Message, "Too late. PersistentVolumeClaim data is left") {
		t.Errorf("%s %v %s", d.On, d.Do, d.Message)
	}
	in.World.Claim = Claim{Sight: presence.Gone}
	if d := decideCleaningUp(in); d.On != Cleaned || d.Message != "Too late." {
		t.Errorf("%s %s", d.On, d.Message)
	}
}

func TestAnotherVolumeIsNoSuccess(t *testing.T) {
	in := input{Obj: newRequest(), World: newBench().World(), Now: createdAt.Time}
	in.Obj.Status.Phase, in.Obj.Status.Source = Restoring, snapshot().Resolved
	in.World.Keeping.Sight = presence.Here
	in.World.Claim = Claim{Sight: presence.Here, UID: "claim", Volume: Another}
	if d := decideRestoring(in); d.On != GivenUp || d.Reason != capturev1.ReasonWrongVolume {
		t.Errorf("%s %s", d.On, d.Reason)
	}
}
