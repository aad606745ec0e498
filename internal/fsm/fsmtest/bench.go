// Package fsmtest tries a machine: by transcripts that people read, by
// exploration of generated worlds, and by drills that break one thing at a time.
// Every check returns an error, so that each can be tried on a machine that was
// broken on purpose: a check that cannot fail is a defect.
package fsmtest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Bench is all that must be known of a machine to try it.
type Bench[T fsm.Subject[T], W any] struct {
	Machine *fsm.Machine[T, W]
	Object  func() T // as the user posts it, or as it stands where the run begins
	Lost    func() T // as it is after its status was lost, if Object has one
	World   func() W // one in which the object gets to its end
	// Perform and Settle are the machine's model: what an effect should do, and
	// what others do meanwhile. Neither writes to what it is given.
	Perform func(W, fsm.Effect) W
	Settle  func(T, W) W
	Gone    func(W) bool // the object has deleted itself
	// Any makes a world, and an object that may be in that phase.
	Any func(r *rand.Rand, phase fsm.Phase) (T, W)
	// End is that of a run without faults: gone, the phase in which the object
	// rests, or phase/reason if that phase is final.
	End string
	// Also lists other ends that a fault may lead to.
	Also []string
	// Large says that under the race detector, which slows everything down ten times and
	// has nothing to find in what runs alone, only a part is tried. The whole is tried
	// without.
	Large bool
	// Safe is what must hold of every step.
	Safe func(fsm.Input[T, W], fsm.Step[T]) error
	// Role is what effects are counted by after a fault, if not by their words: set
	// it where another choice does as well, such as another replica promoted. What it
	// calls "" is not counted: to do it once more does no harm.
	Role func(fsm.Effect) string

	// Step and Reduce are the machine's own, unless a test plants a fault.
	Step   func(fsm.Input[T, W]) (fsm.Step[T], error)
	Reduce func(fsm.Input[T, W], fsm.Step[T], []fsm.Outcome) fsm.Next[T]

	shared func() (*sim[T, W], error) // the run without faults, which is the same for every drill
}

// Try runs every check there is, but for the transcripts.
func Try[T fsm.Subject[T], W any](t *testing.T, b Bench[T, W]) {
	try(t, []check{
		{"table", b.Machine.Check},
		{"explorer", b.Explore},
		{"purity", b.Pure},
		{"blind", b.Blind},
		{"rollback", b.Rollback},
		{"late", b.Late},
	})
	Drill(t, b)
}

// Drill runs the checks that follow one path, from Object and World to End. It is
// for every further path worth drilling; the other checks know all phases anyway.
func Drill[T fsm.Subject[T], W any](t *testing.T, b Bench[T, W]) {
	b.shared = sync.OnceValues(b.clean)
	try(t, []check{
		{"model", b.Model},
		{"crash", b.Crash},
		{"amnesia", b.Amnesia},
		{"stale", b.Stale},
		{"back-off", b.BackOff},
		{"rest", b.Rest},
	})
}

type check struct {
	name string
	run  func() error
}

func try(t *testing.T, checks []check) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.run(); err != nil {
				t.Error(err)
			}
		})
	}
}

func (b Bench[T, W]) step(in fsm.Input[T, W]) (fsm.Step[T], error) {
	step := b.Machine.Step
	if b.Step != nil {
		step = b.Step
	}
	s, err := step(in)
	if err == nil && b.Safe != nil {
		err = b.Safe(in, s)
	}
	return s, err
}

func (b Bench[T, W]) reduce(in fsm.Input[T, W], s fsm.Step[T], o []fsm.Outcome) fsm.Next[T] {
	if b.Reduce != nil {
		return b.Reduce(in, s, o)
	}
	return b.Machine.Reduce(in, s, o)
}

func (b Bench[T, W]) settle(obj T, w W) W {
	if b.Settle == nil {
		return w
	}
	return b.Settle(obj, w)
}

func (b Bench[T, W]) role(e fsm.Effect) string {
	if b.Role == nil {
		return e.String()
	}
	return b.Role(e)
}
