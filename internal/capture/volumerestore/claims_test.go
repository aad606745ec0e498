package volumerestore

import (
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// TestWhatSpeaksAgainstARestore holds every refusal to what speaks against it, one at a time.
func TestWhatSpeaksAgainstARestore(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*input)
		want   fsm.Reason
	}{
		"nothing":               {func(*input) {}, ReasonAccepted},
		"a claim that is there": {func(in *input) { in.World.Claim.Sight = Taken }, capturev1.ReasonNameTaken},
		"another driver":        {func(in *input) { in.World.Source.Class.Provisioner = "tapes.example.com" }, capturev1.ReasonInvalidTarget},
		"a rehearsal with the only copy": {func(in *input) {
			in.World.Source, in.Obj.Spec.Rehearsal = detached(), &capturev1.Rehearsal{}
		}, capturev1.ReasonInvalidTarget},
	} {
		in := input{Obj: newRequest(), World: newBench().World(), Now: born.Time}
		c.change(&in)
		if d := decidePending(in); d.Reason != c.want {
			t.Errorf("%s: %s, want %s", what, d.Reason, c.want)
		}
	}
}

func TestAnotherVolumeIsNoSuccess(t *testing.T) {
	in := input{Obj: newRequest(), World: newBench().World(), Now: born.Time}
	in.Obj.Status.Phase, in.Obj.Status.Source = Restoring, snapshot().Resolved
	in.World.Claim = Claim{Sight: Ours, UID: "claim", Volume: Another}
	if d := decideRestoring(in); d.On != GivenUp || d.Reason != capturev1.ReasonWrongVolume {
		t.Errorf("%s %s", d.On, d.Reason)
	}
}
