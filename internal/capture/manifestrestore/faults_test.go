package manifestrestore

import (
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// A lost status is taken for a new request.
func TestFaultBegunTwice(t *testing.T) {
	b, m := bench(), Machine
	m.Lost = func(input) (fsm.Phase, bool) { return "", false }
	b.Machine, b.Also = &m, nil
	b.Role = func(e fsm.Effect) string { return e.String() } // what is written again is counted
	fsmtest.Caught(t, b.Amnesia(), "begin")
}

// Names are not looked at before the first write.
func TestFaultWritesWithoutAPlan(t *testing.T) {
	b := bench().Deciding(Planning, func(in input) fsm.Decision {
		if _, ended := in.World.Work.ended(Plan); ended {
			return fsm.Fire(Planned, ReasonPlanned)
		}
		return work(in, Plan, ReasonPlanning)
	})
	fsmtest.Caught(t, b.Explore(), "writes although a name is taken")
}

// What the job has done is taken for success, whatever that was.
func TestFaultPartialIsSuccess(t *testing.T) {
	b := bench().Deciding(Verifying, func(in input) fsm.Decision {
		if _, ended := in.World.Work.ended(Look); ended {
			return fsm.Fire(Verified, capturev1.ReasonCompleted)
		}
		return work(in, Look, ReasonVerifying)
	})
	fsmtest.Caught(t, b.Explore(), "calls it a success when something is missing")
}

// What uses volumes is written, or given up, whether their claims are there or not.
func TestFaultClaimsNotAwaited(t *testing.T) {
	for said, instead := range map[string]func(input) fsm.Decision{
		"writes before the claims are there":      func(in input) fsm.Decision { return work(in, Apply, ReasonApplying) },
		"calls written what waits for its claims": func(input) fsm.Decision { return fsm.Fire(Applied, ReasonApplied) },
	} {
		b := bench().Deciding(Applying, func(in input) fsm.Decision {
			if awaited(in) {
				return instead(in)
			}
			return decideApplying(in)
		})
		fsmtest.Caught(t, b.Explore(), said)
	}
}

// An expired request is begun because nobody looks at the time once it is accepted.
func TestFaultExpiryForgotten(t *testing.T) {
	b := bench().Deciding(Pending, func(input) fsm.Decision { return fsm.Fire(Accepted, ReasonPreparing) })
	fsmtest.Caught(t, b.Explore(), "no world takes Pending –Expired")
}

// The wait for a job says other words than its beginning.
func TestFaultOtherWords(t *testing.T) {
	b := bench().Deciding(Planning, func(in input) fsm.Decision {
		d := decidePlanning(in)
		if d.Waits() {
			d.Message = "still at it since " + in.Now.String()
		}
		return d
	})
	b.Settle = func(_ *capturev1.ManifestRestoreRequest, w World) World { return w }
	fsmtest.Caught(t, b.Rest(), "writes at rest")
}

// Rights are looked at when the request is accepted, and not again.
func TestFaultARightThatWasTakenAwayStillCounts(t *testing.T) {
	b := bench().Deciding(Preparing, func(in input) fsm.Decision {
		in.World.Rights = request.Rights{Sight: request.Granted}
		return decidePreparing(in)
	})
	fsmtest.Caught(t, b.Explore(), "restores for somebody who may not")
}
