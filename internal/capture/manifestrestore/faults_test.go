package manifestrestore

import (
	"maps"
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

func broken(phase fsm.Phase, decide func(input) fsm.Decision) fsmtest.Bench[*capturev1.ManifestRestoreRequest, World] {
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

// A lost status is taken for a new request.
func TestFaultBegunTwice(t *testing.T) {
	b, m := bench(), Machine
	m.Lost = func(input) (fsm.Phase, bool) { return "", false }
	b.Machine, b.Also = &m, nil
	b.Role = func(e fsm.Effect) string { return e.String() } // what is written again is counted
	caught(t, b.Amnesia(), "begin")
}

// Names are not looked at before the first write.
func TestFaultWritesWithoutAPlan(t *testing.T) {
	b := broken(Planning, func(in input) fsm.Decision {
		if _, ended := in.World.Work.ended(Plan); ended {
			return fsm.Fire(Planned, ReasonPlanned)
		}
		return work(in, Plan, ReasonPlanning)
	})
	caught(t, b.Explore(), "writes although a name is taken")
}

// What the job has done is taken for success, whatever that was.
func TestFaultPartialIsSuccess(t *testing.T) {
	b := broken(Verifying, func(in input) fsm.Decision {
		if _, ended := in.World.Work.ended(Look); ended {
			return fsm.Fire(Verified, capturev1.ReasonCompleted)
		}
		return work(in, Look, ReasonVerifying)
	})
	caught(t, b.Explore(), "calls it a success when something is missing")
}

// An expired request is begun because nobody looks at the time once it is accepted.
func TestFaultExpiryForgotten(t *testing.T) {
	b := broken(Pending, func(input) fsm.Decision { return fsm.Fire(Accepted, ReasonPreparing) })
	caught(t, b.Explore(), "no world takes Pending –Expired")
}

// The wait for a job says other words than its beginning.
func TestFaultOtherWords(t *testing.T) {
	b := broken(Planning, func(in input) fsm.Decision {
		d := decidePlanning(in)
		if d.Waits() {
			d.Message = "still at it since " + in.Now.String()
		}
		return d
	})
	b.Settle = func(_ *capturev1.ManifestRestoreRequest, w World) World { return w }
	caught(t, b.Rest(), "writes at rest")
}
