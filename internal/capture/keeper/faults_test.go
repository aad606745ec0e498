package keeper

import (
	"maps"
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

func broken(phase fsm.Phase, decide func(input) fsm.Decision) fsmtest.Bench[*capturev1.ObjectKeeper, World] {
	b, m := bench(), Machine
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

// Pending only knows how to find a living object.
func TestFaultPhaseNotRederivable(t *testing.T) {
	b := broken(Pending, func(in input) fsm.Decision {
		if in.World.Followed == Here {
			return fsm.Fire(Found, ReasonFollowing)
		}
		return fsm.Wait(ReasonNotLooked, "followed")
	})
	caught(t, b.Amnesia(), "ends Pending, not gone")
}

func TestFaultClockInTheMessage(t *testing.T) {
	b := broken(Tracking, func(in input) fsm.Decision {
		return fsm.Wait(ReasonFollowing, "followed").Because("looked at %s", in.Now)
	})
	caught(t, b.Rest(), "writes at rest")
}

// The cache says it is gone.
func TestFaultDeleteOnTheWordOfTheCache(t *testing.T) {
	b := broken(Expiring, func(in input) fsm.Decision {
		return fsm.Do(ReasonTimeOver, DeleteKeeper{in.Obj.UID, in.Obj.ResourceVersion})
	})
	caught(t, b.Explore(), "deletes backups on a guess")
}
