package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/proof"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Proof is the evidence that allows one thing that cannot be undone. Only this package
// makes one, out of what was seen, so whoever holds one may do what it is for, and
// nothing else. Nil is no proof.
type Proof interface {
	// Of says that it is the proof for this very subject: a Server, a Pod, or Slots.
	Of(subject proof.Subject) bool
	// Subjects are all that it is the proof for.
	Subjects() []proof.Subject
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

// Pod is a pod as the subject of a proof. One that is made anew under its name is another.
func Pod(name, uid string) proof.Subject {
	return proof.Subject{Kind: "Pod", Name: name, UID: types.UID(uid)}
}

// Server is a server as the subject of a proof: its ID is never given to another.
func Server(id string) proof.Subject {
	return proof.Subject{Kind: "server", Name: id, UID: types.UID(id)}
}

// Slots are a set of slots as the subject of a proof.
func Slots(s topology.Slots) proof.Subject {
	return proof.Subject{Kind: "slots", Name: string(s), UID: types.UID(s)}
}

func servers(ids []string) (subjects []proof.Subject) {
	for _, id := range ids {
		subjects = append(subjects, Server(id))
	}
	return subjects
}

// pods are those of these names, as they were seen.
func pods(n topology.Nodes, names []string) (subjects []proof.Subject) {
	for _, m := range n {
		if slices.Contains(names, m.Name) {
			subjects = append(subjects, Pod(m.Name, m.UID))
		}
	}
	return subjects
}

// evidence is what every proof is made of: whom it is about, and what was seen.
type evidence struct{ proof.Evidence }

func (evidence) sealed() {}

func evidenceOf(seen string, subjects ...proof.Subject) evidence {
	return evidence{proof.New(seen, subjects...)}
}

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

// Subjects are whom a proof is about; none if there is no proof.
func Subjects(p Proof) []proof.Subject {
	if p == nil {
		return nil
	}
	return p.Subjects()
}

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
