package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Proof is the evidence that allows one thing that cannot be undone. Only this package
// makes one, out of what was seen, so whoever holds one may do what it is for, and
// nothing else. Nil is no proof.
type Proof interface {
	// Of says that it is the proof for this subject: the ID of a server, the name of a
	// pod, or a set of slots.
	Of(subject string) bool
	// String says what was seen, for a status and its events.
	fmt.Stringer
	sealed()
}

// What a proof allows is in its type.
type (
	// ForgetProof allows that servers forget the one it is of.
	ForgetProof interface {
		Proof
		forget()
	}
	// ForgetSlotOwnerProof allows that servers forget the one it is of, an owner of slots.
	ForgetSlotOwnerProof interface {
		Proof
		forgetSlotOwner()
	}
	// FailoverProof allows that the server it is of becomes the primary of its shard.
	FailoverProof interface {
		Proof
		// Forced says that the primary is not to be asked.
		Forced() bool
		failover()
	}
	// SlotProof allows that servers believe in a new owner of the slots it is of.
	SlotProof interface {
		Proof
		// Owner is the ID of the new one.
		Owner() string
		slots()
	}
	// EpochProof allows that the primary it is of takes a new epoch.
	EpochProof interface {
		Proof
		epoch()
	}
	// PodProof allows that the pod it is of is deleted, to be made anew.
	PodProof interface {
		Proof
		pod()
	}
	// ShrinkProof allows that the pods it is of are removed for good, with their volumes.
	ShrinkProof interface {
		Proof
		shrink()
	}
)

// evidence is what every proof is made of: whom it is about, and what was seen.
type evidence struct{ subjects, seen string }

const between = "\n" // which is in no name of a pod, no ID and no slots

func evidenceOf(seen string, subjects ...string) evidence {
	return evidence{subjects: strings.Join(subjects, between), seen: seen}
}

// Of implements Proof.
func (e evidence) Of(subject string) bool {
	return subject != "" && slices.Contains(strings.Split(e.subjects, between), subject)
}

// String implements Proof.
func (e evidence) String() string { return e.seen }

func (evidence) sealed() {}

type (
	forgetProof          struct{ evidence }
	forgetSlotOwnerProof struct{ evidence }
	failoverProof        struct {
		evidence
		forced bool
	}
	slotProof struct {
		evidence
		owner string
	}
	epochProof  struct{ evidence }
	podProof    struct{ evidence }
	shrinkProof struct{ evidence }
)

// Evidence is what a proof rests on, in words; "" if there is none.
func Evidence(p Proof) string {
	if p == nil {
		return ""
	}
	return p.String()
}

func (forgetProof) forget()                   {}
func (forgetSlotOwnerProof) forgetSlotOwner() {}
func (failoverProof) failover()               {}
func (slotProof) slots()                      {}
func (epochProof) epoch()                     {}
func (podProof) pod()                         {}
func (shrinkProof) shrink()                   {}

// Forced implements FailoverProof.
func (p failoverProof) Forced() bool { return p.forced }

// Owner implements SlotProof.
func (p slotProof) Owner() string { return p.owner }
