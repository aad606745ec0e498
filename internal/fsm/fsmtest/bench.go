// Package fsmtest tries a machine: by transcripts that people read, by
// exploration of generated worlds, and by drills that break one thing at a time.
// Every check returns an error, so that each can be tried on a machine that was
// broken on purpose: a check that cannot fail is a defect.
package fsmtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Bench is all that must be known of a machine to try it.
type Bench[T fsm.Subject[T], W any] struct {
	Machine *fsm.Machine[T, W]
	Object  func() T // as the user posts it
	World   func() W // one in which the object gets to its end
	// Perform and Settle are the machine's model: what an effect should do, and
	// what others do meanwhile.
	Perform func(W, fsm.Effect) W
	Settle  func(T, W) W
	Gone    func(W) bool // the object has deleted itself
	// Any makes a world, and an object that may be in that phase.
	Any func(r *rand.Rand, phase fsm.Phase) (T, W)
	End string // of a run without faults: gone, a phase, or phase/reason
	// Also lists other ends that a fault may lead to.
	Also []string
	// Safe is what must hold of every step.
	Safe func(fsm.Input[T, W], fsm.Step[T]) error

	// Step and Reduce are the machine's own, unless a test plants a fault.
	Step   func(fsm.Input[T, W]) (fsm.Step[T], error)
	Reduce func(fsm.Input[T, W], fsm.Step[T], []fsm.Outcome) fsm.Next[T]
}

// Try runs everything but the transcripts.
func Try[T fsm.Subject[T], W any](t *testing.T, b Bench[T, W]) {
	for name, check := range map[string]func() error{
		"table":    b.Machine.Check,
		"explorer": b.Explore,
		"crash":    b.Crash,
		"amnesia":  b.Amnesia,
		"stale":    b.Stale,
		"late":     b.Late,
		"back-off": b.BackOff,
		"rest":     b.Rest,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := check(); err != nil {
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

// saved is obj as it would come back from the API server.
func saved[T any](obj T) (T, error) {
	var back T
	err := json.Unmarshal([]byte(text(obj)), &back)
	if err == nil && !equality.Semantic.DeepEqual(obj, back) {
		err = fmt.Errorf("status changes when saved: %s, then %s", text(obj), text(back))
	}
	return back, err
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a World or an object that is not data
	}
	return string(b)
}
