package volumerestore

import (
	"maps"
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func broken(phase fsm.Phase, decide func(input) fsm.Decision) bench {
	b, m := newBench(), Machine
	m.Phases = maps.Clone(m.Phases)
	rule := m.Phases[phase]
	rule.Decide = decide
	m.Phases[phase] = rule
	b.Machine = &m
	return b
}

func caught(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestFaultABoundClaimIsCleanedUp(t *testing.T) {
	b := broken(CleaningUp, func(in input) fsm.Decision {
		if in.World.Claim.Sight == Ours {
			return fsm.Do(ReasonCleaning, DeleteClaim{in.World.Claim.UID, in.World.Claim.ResourceVersion})
		}
		return fsm.Fire(Cleaned, ReasonCleaning)
	})
	caught(t, b.ExploreIn(CleaningUp), "deletes a claim that holds data")
}

func TestFaultAnyVolumeWillDo(t *testing.T) {
	b := broken(Restoring, func(in input) fsm.Decision {
		if in.World.Claim.Volume != "" {
			return fsm.Fire(Bound, capturev1.ReasonCompleted)
		}
		return fsm.Wait(ReasonRestoring, "claims")
	})
	caught(t, b.ExploreIn(Restoring), "calls a restore done that is not")
}

func TestFaultARestoreBeginsWithoutAProof(t *testing.T) {
	b := broken(Preparing, func(input) fsm.Decision { return fsm.Fire(Kept, ReasonKept) })
	caught(t, b.ExploreIn(Preparing), "before anything proves it")
}

func TestFaultASecondRestoreOfADetachedVolume(t *testing.T) {
	b := broken(Pending, func(input) fsm.Decision { return fsm.Fire(Accepted, ReasonAccepted) })
	caught(t, b.ExploreIn(Pending), "accepts what must be refused")
}

// The status is lost after the end, the claim was deleted by its user, and it is restored again.
func TestFaultALostStatusIsAReplay(t *testing.T) {
	b, m := newBench(), Machine
	m.Lost = nil
	b.Machine = &m
	caught(t, b.ExploreIn(""), "begins again what had begun")
}

func TestFaultTheVerdictIsForgotten(t *testing.T) {
	b := broken(CleaningUp, func(in input) fsm.Decision {
		if in.World.Claim.empty() {
			return fsm.Do(ReasonCleaning, DeleteClaim{in.World.Claim.UID, in.World.Claim.ResourceVersion})
		}
		return fsm.Fire(Cleaned, ReasonCleaning)
	})
	b.Settle = func(r *capturev1.VolumeRestoreRequest, w World) World { return w }
	b.End = "Failed/DeadlineExceeded"
	caught(t, b.Crash(), "ends Failed/Cleaning")
}
