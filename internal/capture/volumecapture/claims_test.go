package volumecapture

import (
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// detaching is a Detach in the middle, whose volume is marked and whose claim is still there.
func detachingNow() input {
	in := input{Obj: detaches().Object(), World: world(), Now: createdAt.Time}
	in.Obj.Status.Phase, in.World.Self = Detaching, Detaching
	in.Obj.Status.Origin = &capturev1.Origin{ClaimUID: "c1"}
	in.Obj.Status.Detached = &capturev1.DetachedVolume{Name: "pv1", UID: "v1", ReclaimPolicy: "Delete"}
	in.World.Keeping = request.Keeping{Sight: presence.Here, UID: "k1"}
	in.World.Volume.Mark, in.World.Volume.Policy = Mark{By: "r1", Policy: "Delete"}, retain
	return in
}

// TestWhatSpeaksAgainstACapture holds every refusal to what speaks against it, one at a time.
func TestWhatSpeaksAgainstACapture(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*input)
		want   fsm.Reason
	}{
		"nothing":                 {func(*input) {}, ReasonTargetValid},
		"a volume of no driver":   {func(in *input) { in.World.Volume.Driver = "" }, capturev1.ReasonInvalidTarget},
		"a claim that is another": {func(in *input) { in.Obj.Status.Origin = &capturev1.Origin{ClaimUID: "c0"} }, capturev1.ReasonNotFound},
		"another who detaches it": {func(in *input) {
			in.Obj.Spec.Mode, in.World.Volume.Mark.By = capturev1.Detach, "r2"
		}, capturev1.ReasonInvalidTarget},
		"a volume that goes": {func(in *input) {
			in.Obj.Spec.Mode, in.World.Volume.Deleting = capturev1.Detach, true
		}, capturev1.ReasonInvalidTarget},
		"a volume that goes, of which a copy is made": {func(in *input) { in.World.Volume.Deleting = true }, ReasonTargetValid},
	} {
		in := input{Obj: object(), World: world(), Now: createdAt.Time}
		c.change(&in)
		if d := decidePending(in); d.Reason != c.want {
			t.Errorf("%s: %s, want %s", what, d.Reason, c.want)
		}
	}
}

func TestNothingIsOwnedByNobody(t *testing.T) {
	in := input{Obj: object(), World: world(), Now: createdAt.Time}
	in.World.Keeping = request.Keeping{Sight: presence.Here}
	if d := decidePreparing(in); d.On != "" {
		t.Errorf("goes on by %s with a keeper that has no UID", d.On)
	}
}

// TestAClaimGoesOnlyWhenItsVolumeStays: somebody has changed the policy back meanwhile.
func TestAClaimGoesOnlyWhenItsVolumeStays(t *testing.T) {
	in := detachingNow()
	if d := decideDetaching(in); len(d.Do) != 1 || d.Do[0] != (DeleteClaim{"c1", "3"}) {
		t.Fatalf("does %v", d.Do)
	}
	in.World.Volume.Policy = "Delete"
	if d := decideDetaching(in); len(d.Do) != 1 || d.Do[0].String() == (DeleteClaim{"c1", "3"}).String() {
		t.Errorf("does %v", d.Do)
	}
}

// TestAClaimThatAloneKeepsItsVolumeStays: somebody has deleted the volume meanwhile. Before the
// mark it is left as it is, and after it the mark is taken back; the words say why.
func TestAClaimThatAloneKeepsItsVolumeStays(t *testing.T) {
	in := detachingNow()
	in.World.Volume.Deleting = true
	for _, by := range []Mark{{}, in.World.Volume.Mark} {
		in.World.Volume.Mark = by
		if d := decideDetaching(in); d.On != GaveUp || d.Reason != capturev1.ReasonInvalidTarget || !strings.Contains(d.Message, "is being deleted") {
			t.Errorf("marked by %q: %s %s %q %v", by.By, d.On, d.Reason, d.Message, d.Do)
		}
	}
}

func TestAVolumeThatSomebodyHasIsNotTaken(t *testing.T) {
	in := detachingNow()
	in.World.Claim, in.World.Volume.ClaimUID = Claim{Sight: presence.Gone}, "c9"
	if d := decideDetaching(in); d.On != GaveUp || d.Reason != capturev1.ReasonInvalidTarget {
		t.Errorf("%s %s %v", d.On, d.Reason, d.Do)
	}
}
