// Package fsm is the kernel: it turns an object and a view of the world into a
// decision, and a decision and its outcomes into a new status. It is pure.
//
// One pass of a controller is
//
//	Get → Observe → Step → act → Reduce → Save → trace → look again
//
// of which Step and Reduce are here. Everything a pass did is one status write.
package fsm

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// The vocabulary is re-exported, so that a machine imports one kernel package.
type (
	Phase  = meta.Phase
	Event  = meta.Event
	Reason = meta.Reason
)

// Subject is an object with a Progress, wherever that is stored.
type Subject[T any] interface {
	metav1.Object
	DeepCopy() T
	GetProgress() *meta.Progress
}

// Input is all that a decision may look at. Nothing in it may be written to.
type Input[T, W any] struct {
	Obj   T
	World W // what Observe saw; what was not read is absent, which is not false
	Now   time.Time
}

// Machine is one kind's procedure: a value, built once and then left as it is,
// holding no clients.
type Machine[T Subject[T], W any] struct {
	Kind string
	Rules[Input[T, W]]
	Lanes *Lanes[T, W]
	// Reflex heals in every phase and under every hold. It acts or waits, never moves.
	Reflex func(Input[T, W]) (Decision, bool)
	// OneShot objects end for good: a final one is never looked at again.
	OneShot bool
	// Wakes are all that leads to another pass over an object that waits, besides its
	// own changes, its timers and its deadlines.
	Wakes []Wake
	// Lost is asked about a one-shot without a phase: has its work begun, so that
	// its status was lost, and in which phase does the World say it is?
	Lost func(Input[T, W]) (Phase, bool)
	// LostMessage says in words what a lost status means for the user.
	LostMessage string
	// Conditions are the kind's own, of the object as it will be saved. One of type
	// Ready or Stalled replaces the kernel's.
	Conditions func(Input[T, W], Decision) []metav1.Condition
	// Evident are types of these conditions that say what is true at this moment: while the
	// World cannot be read they are Unknown, as Ready is.
	Evident []string
	// Report copies what was seen and done into the kind's own status fields.
	Report func(out T, in Input[T, W], p Pass)
}
