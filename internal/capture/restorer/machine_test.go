package restorer

import (
	"errors"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

type bench = fsmtest.Bench[*Restore, World]

const answer = `{"id":"v1"}`

func newBench() bench {
	return bench{
		Machine: &Machine,
		Object:  func() *Restore { return New("shop", "back", "r1") },
		World: func() World {
			return World{
				Request: Wanted, Claim: Claim{Sight: presence.Gone}, Class: Class{Name: "disks", Immediate: true},
				Intent: Stored{Sight: presence.Gone, Draft: intent()}, PV: PV{Sight: NoPV},
			}
		},
		Perform: Perform, Settle: Settle, Any: anyRestore, Safe: safe, Reduce: answered,
		End: "Idle",
		// That a volume is asked for once more does no harm, and after a lost answer it must be.
		Role: func(e fsm.Effect) string {
			if _, asks := e.(CreateVolume); asks {
				return ""
			}
			return e.String()
		},
	}
}

// answered lets the driver answer.
func answered(in input, s fsm.Step[*Restore], outcomes []fsm.Outcome) fsm.Next[*Restore] {
	for i := range outcomes {
		if _, asks := outcomes[i].Effect.(CreateVolume); asks {
			outcomes[i].Ref = answer
		}
	}
	return Machine.Reduce(in, s, outcomes)
}

func intent() *Intent {
	return &Intent{
		Request: Ref{"shop", "back", "r1"}, Claim: Ref{"shop", "data", "claim"},
		Plan: Plan{Driver: "disks.example.com", Name: VolumeName("r1"), Snapshot: "snap-1", Bytes: 1 << 30},
	}
}

// safe: nothing is spent without an intent, and nothing is deleted that somebody owns.
func safe(in input, s fsm.Step[*Restore]) error {
	w := in.World
	for _, e := range s.Decision.Do {
		switch e := e.(type) {
		case CreateClaim:
			if (e.Keeper != "") != w.Keeper.Needed {
				return errors.New("makes a user's claim that goes with its request, or one of a rehearsal that stays")
			}
		case CreateVolume, CreatePV:
			if w.Intent.Sight != presence.Here || w.Request != Wanted || w.abandoned() {
				return errors.New("makes a volume that nobody waits for, or that nothing reminds of")
			}
		case RemoveIntent:
			if w.Backend && w.PV.Sight == NoPV && !discards(s.Decision.Do) {
				return errors.New("forgets a volume that nobody owns")
			}
		case DiscardVolume:
			if w.PV.Sight != NoPV || !w.abandoned() {
				return errors.New("deletes a volume that somebody owns, or waits for")
			}
		case DeleteClaim:
			if !w.Claim.empty() || !w.givenUp() || w.PV.Sight == ForUs || w.Claim.UID != e.UID {
				return errors.New("deletes a claim that holds data, or is somebody else's")
			}
			if w.Claim.Reserved {
				return errors.New("deletes a claim whose name must stay taken")
			}
		case FinishMove:
			if w.PV.Sight != ForUs || !w.Claim.Bound {
				return errors.New("lets a volume go with a claim that is not bound to it")
			}
		case MoveVolume:
			if w.PV.Sight != Held || w.Claim.Sight != presence.Here {
				return errors.New("takes a volume from somebody")
			}
		}
	}
	return nil
}

func discards(do []fsm.Effect) bool {
	_, first := do[0].(DiscardVolume)
	return first
}

func anyRestore(r *rand.Rand, _ fsm.Phase) (*Restore, World) {
	obj := New("shop", "back", "r1")
	obj.Status.Volume = pick(r, nil, &Volume{ID: "v1"})
	obj.Status.Trouble = pick(r, nil, &Trouble{capturev1.ReasonDriverError, "The CSI driver cannot make the volume: no space."})
	w := World{
		Request: pick(r, "", Wanted, Wanted, Wanted, GivenUp, Gone, Elsewhere),
		Moves:   r.IntN(4) == 0,
		Claim: Claim{
			Sight: pick(r, "", presence.Gone, presence.Here, presence.Here, presence.Here, presence.Other), UID: pick(r, types.UID("claim"), "claim", "claim", "another"), ResourceVersion: "1",
			Bound: r.IntN(3) == 0, Deleting: r.IntN(6) == 0, Consumer: r.IntN(4) == 0, Reserved: r.IntN(3) == 0,
			Told: pick(r, "", capturev1.ReasonDriverError, capturev1.ReasonSourceConsumed),
		},
		Class:   pick(r, Class{}, Class{Name: "disks"}, Class{Name: "disks", Immediate: true}),
		Keeper:  pick(r, Keeper{}, Keeper{UID: "keeper"}, Keeper{Needed: true}, Keeper{Needed: true, UID: "keeper"}),
		Intent:  pick(r, Stored{}, Stored{Sight: presence.Gone}, Stored{Sight: presence.Gone, Draft: intent()}, Stored{Sight: presence.Gone, Flaw: &Trouble{"A", "The restorer cannot ask for the volume."}}, Stored{Sight: presence.Here, Intent: intent(), UID: "intent", ResourceVersion: "1"}),
		PV:      PV{Sight: pick(r, "", NoPV, NoPV, ForUs, Held, Strange), Name: "pv", Holder: "no claim", Marked: r.IntN(3) == 0},
		Backend: r.IntN(2) == 0,
	}
	if w.PV.Sight == ForUs { // such a volume has a backend, and is nobody else's
		w.Backend = true
	}
	return obj, w
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

// TestConsumerPath drills a class that waits for a pod.
func TestConsumerPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := newBench().World()
		w.Class.Immediate = false
		return w
	}
	fsmtest.Drill(t, b)
}

// TestMovePath drills a detached volume.
func TestMovePath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := newBench().World()
		w.Moves, w.PV = true, PV{Sight: Held, Name: "pv-1", UID: "p1", ResourceVersion: "1"}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestDiscardPath drills a request that is deleted as soon as the intent is there.
func TestDiscardPath(t *testing.T) {
	b := newBench()
	b.Settle = func(_ *Restore, w World) World { return w }
	b.Perform = func(w World, e fsm.Effect) World {
		w = Perform(w, e)
		if _, is := e.(CreateIntent); is {
			w.Request = Gone
		}
		return w
	}
	b.Role = func(e fsm.Effect) string { // whether there is a volume to discard depends on the fault
		if _, is := e.(DiscardVolume); is {
			return ""
		}
		return newBench().Role(e)
	}
	fsmtest.Drill(t, b)
}
