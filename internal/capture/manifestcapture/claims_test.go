package manifestcapture

import (
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// TestWhatSpeaksAgainstACapture holds every refusal to what speaks against it, one at a time.
func TestWhatSpeaksAgainstACapture(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*input)
		want   fsm.Reason
	}{
		"nothing": {func(*input) {}, ReasonMomentChosen},
		"the capture of another claim": {func(in *input) {
			in.Obj.Spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}}
			in.World.Volumes = map[string]Volume{"data": VolumeOther}
		}, capturev1.ReasonVolumeNotCaptured},
		"Secrets and no key": {func(in *input) { in.Obj.Spec.IncludeSecrets, in.World.Keys = true, KeysMissing }, capturev1.ReasonKeyMissing},
	} {
		in := input{Obj: newBench().Object(), World: newBench().World(), Now: createdAt.Time}
		in.Obj.Status.Phase, in.World.Keeping = Preparing, request.Keeping{Sight: presence.Here, UID: "keeper"}
		c.change(&in)
		if d := decidePreparing(in); d.Reason != c.want {
			t.Errorf("%s: %s, want %s", what, d.Reason, c.want)
		}
	}
}

func TestACheckpointOfSomebodyElseIsNotAdopted(t *testing.T) {
	in := input{Obj: newBench().Object(), World: newBench().World(), Now: createdAt.Time}
	in.Obj.Status.Phase, in.World.Checkpoint.Sight = Writing, presence.Other
	if d := decideWriting(in); d.On != Refused || d.Reason != capturev1.ReasonNameTaken {
		t.Errorf("%s %s", d.On, d.Reason)
	}
}
