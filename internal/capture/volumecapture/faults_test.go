package volumecapture

import (
	"maps"
	"math/rand/v2"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

func with(b bench, phase fsm.Phase, change func(*fsm.Rule[input])) bench {
	m := Machine
	m.Phases = maps.Clone(m.Phases)
	rule := m.Phases[phase]
	change(&rule)
	m.Phases[phase] = rule
	b.Machine = &m
	return b
}

func TestFaultClaimDeletedBeforeItsVolumeIsMarked(t *testing.T) {
	b := with(detaches(), Detaching, func(r *fsm.Rule[input]) {
		r.Decide = func(in input) fsm.Decision {
			if claimed(in) && !in.World.Claim.Deleting {
				return do(in, DeleteClaim{in.World.Claim.UID, in.World.Claim.ResourceVersion})
			}
			return decideDetaching(in)
		}
	})
	fsmtest.Caught(t, b.ExploreIn(Detaching), "whose volume would go with it")
}

// Somebody has deleted the volume: only its claim keeps it.
func TestFaultClaimDeletedThatAloneKeepsItsVolume(t *testing.T) {
	b := with(detaches(), Detaching, func(r *fsm.Rule[input]) {
		r.Decide = func(in input) fsm.Decision {
			in.World.Volume.Deleting = false
			return decideDetaching(in)
		}
	})
	b.Any = func(r *rand.Rand, _ fsm.Phase) (*capturev1.VolumeCaptureRequest, World) {
		in := detachingNow()
		in.World.Volume.Deleting = r.IntN(4) == 0
		return in.Obj, in.World
	}
	fsmtest.Caught(t, b.ExploreIn(Detaching), "that alone keeps its volume")
}

func TestFaultPolicyGivenBackBeforeTheVolumeIsHeld(t *testing.T) {
	b := with(detaches(), Detaching, func(r *fsm.Rule[input]) {
		r.Decide = func(in input) fsm.Decision {
			if d := decideDetaching(in); len(d.Do) == 0 || d.Do[0].String() != "create-holder" {
				return d
			}
			return do(in, RestorePolicy{seen(in.World.Volume), "Delete"})
		}
	})
	fsmtest.Caught(t, b.ExploreIn(Detaching), "lets a volume go that nobody holds")
}

func TestFaultVolumeStolen(t *testing.T) {
	b := with(detaches(), Detaching, func(r *fsm.Rule[input]) {
		r.Decide = func(in input) fsm.Decision {
			if h := in.World.Holder; h.Sight == presence.Here && h.UID != "" && in.Obj.Status.Origin != nil && in.World.Self == Detaching {
				return do(in, BindVolume{seen(in.World.Volume), h.UID})
			}
			return decideDetaching(in)
		}
	})
	fsmtest.Caught(t, b.ExploreIn(Detaching), "takes a volume from a claim that lives")
}

// The request in hand is of the past: the content was made and deleted since.
func TestFaultSnapshotMadeAgainByAnOutdatedRequest(t *testing.T) {
	b := with(snapshots(), Capturing, func(r *fsm.Rule[input]) {
		r.Decide = func(in input) fsm.Decision {
			in.World.Self = in.Obj.Status.Phase
			return decideCapturing(in)
		}
	})
	b.Safe, b.End = nil, "Failed/DriverError"
	b.Settle = func(r *capturev1.VolumeCaptureRequest, w World) World {
		w.Self = r.Status.Phase
		return broken(r, w) // and a content that is deleted goes at once
	}
	b.Object = func() *capturev1.VolumeCaptureRequest {
		r := object()
		r.Spec.OnTransientError = capturev1.FailAtOnce
		return r
	}
	fsmtest.Caught(t, b.Stale(), "create-content:2")
}

func TestFaultStatusLostAndBegunAnew(t *testing.T) {
	b := snapshots()
	m := Machine
	m.Lost = func(input) (fsm.Phase, bool) { return Pending, false }
	b.Machine = &m
	b.Settle = broken
	b.End = "Failed/DeadlineExceeded"
	b.Also = nil
	fsmtest.Caught(t, b.Amnesia(), "ends")
}

func TestFaultOtherWordsBeforeAndAfter(t *testing.T) {
	b := with(snapshots(), Capturing, func(r *fsm.Rule[input]) {
		r.Decide = func(in input) fsm.Decision {
			d := decideCapturing(in)
			if d.On == "" {
				d = d.Because("looked at %s", in.Now)
			}
			return d
		}
	})
	fsmtest.Caught(t, b.Rest(), "writes at rest")
}

// Rights are looked at when the request is accepted, and not again.
func TestFaultARightThatWasTakenAwayStillCounts(t *testing.T) {
	b := snapshots().Deciding(Detaching, func(in input) fsm.Decision {
		in.World.Rights = request.Rights{Sight: request.Granted}
		return decideDetaching(in)
	})
	b.Any = func(r *rand.Rand, phase fsm.Phase) (*capturev1.VolumeCaptureRequest, World) {
		obj, _ := anything(r, phase)
		obj.DeletionTimestamp = nil
		obj.Status.Origin = &capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", RequestUID: "r1", Claim: "data", ClaimUID: "c1"}
		obj.Status.Detached = &capturev1.DetachedVolume{Name: "pv1", UID: "v1", ReclaimPolicy: "Delete"}
		w := world() // all is as it should be, but for the rights
		w.Self, w.Keeping = phase, request.Keeping{Sight: presence.Here, UID: "k1", Namespace: "n1"}
		w.Rights = pick(r, anyRights...)
		return obj, w
	}
	fsmtest.Caught(t, b.ExploreIn(Detaching), "for somebody who may not")
}

// What a namespace keeps is not counted.
func TestFaultLimitsAreForgotten(t *testing.T) {
	b := snapshots().Deciding(Pending, func(in input) fsm.Decision {
		in.World.Limits = request.Limits{}
		return decidePending(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Pending), "begins more than is allowed")
}
