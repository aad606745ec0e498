package restorer

import (
	"errors"
	"fmt"
	"testing"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// fault is one thing that goes wrong at one effect, counted from 1.
type fault string

const (
	none         fault = "none"
	crashBefore  fault = "crash before"
	crashAfter   fault = "crash after"
	wipedBefore  fault = "crash before, and the progress is wiped"
	wipedAfter   fault = "crash after, and the progress is wiped"
	lostAnswer   fault = "lost answer" // it happened
	refusedOnce  fault = "refused"     // it did not
	answersLater fault = "late"        // the driver makes the volume after we have given up on its answer
)

// change is something that others do meanwhile.
var changes = map[string]func(World) World{
	"nothing":                    func(w World) World { return w },
	"the request is deleted":     func(w World) World { w.Request = Gone; return w },
	"the request is given up":    func(w World) World { w.Request = GivenUp; return w },
	"the claim is deleted":       func(w World) World { w.Claim = Claim{Sight: presence.Gone}; return w },
	"the claim is made anew":     func(w World) World { w.Claim = Claim{Sight: presence.Other, UID: "another"}; return w },
	"the claim is being deleted": func(w World) World { w.Claim.Deleting = w.Claim.Sight == presence.Here; return w },
	"the status is lost":         func(w World) World { w.Request = Elsewhere; return w },
}

// run runs one restore. At one effect a fault strikes, after another one something changes.
type run struct {
	world  World
	obj    *Restore
	now    time.Time
	made   int // effects so far
	fault  fault
	at     int
	change func(World) World
	after  int
	late   bool          // the driver is about to make a volume
	stored meta.Progress // in the intent
}

func newRun(what string, after int, f fault, at int) *run {
	return &run{world: newBench().World(), obj: New("shop", "back", "r1"), now: time.Unix(1_700_000_000, 0), fault: f, at: at, change: changes[what], after: after}
}

var errLost = errors.New("the answer was lost")

// perform does one effect, and says whether the process survives it.
func (r *run) perform(e fsm.Effect) (o fsm.Outcome, survives bool) {
	r.made++
	o = fsm.Outcome{Effect: e, Ref: answer}
	struck := r.made == r.at
	switch {
	case struck && (r.fault == crashBefore || r.fault == wipedBefore):
		return o, false
	case struck && r.fault == refusedOnce:
		o.Err = &Failure{errors.New("no space")}
		return o, true
	case struck && r.fault == answersLater:
		_, asks := e.(CreateVolume)
		r.late, o.Err = asks, errLost
	default:
		r.world = Perform(r.world, e)
		if r.late { // the driver finishes what it was asked first
			r.late = false
			_, discards := e.(DiscardVolume)
			r.world.Backend = !discards
		}
	}
	if struck && r.fault == lostAnswer {
		o.Err = errLost
	}
	if r.made == r.after {
		r.world = r.change(r.world)
	}
	return o, !struck || r.fault != crashAfter && r.fault != wipedAfter
}

// crash loses all that the restorer remembers; what is in the intent it finds again.
func (r *run) crash() {
	r.obj = New("shop", "back", "r1")
	if wiped := r.fault == wipedBefore || r.fault == wipedAfter; !wiped && r.world.Intent.Sight == presence.Here {
		r.obj.Status.Progress = *r.stored.DeepCopy()
	}
}

// save keeps the progress in the intent that the pass began with, if it is still there.
func (r *run) save(next *Restore, began presence.State) {
	r.obj = next
	if began == presence.Here {
		r.stored = next.Status.Progress
	}
	if r.world.Intent.Sight != presence.Here {
		r.stored = meta.Progress{}
	}
}

// pass is one turn of the restorer.
func (r *run) pass() error {
	in, intent := input{Obj: r.obj, World: r.world, Now: r.now}, r.world.Intent.Sight
	step, err := Machine.Step(in)
	if err == nil {
		err = safe(in, step)
	}
	if err != nil {
		return err
	}
	var outcomes []fsm.Outcome
	for _, e := range step.Decision.Do {
		o, survives := r.perform(e)
		if !survives {
			r.crash()
			return nil
		}
		if outcomes = append(outcomes, o); o.Err != nil {
			break
		}
	}
	next := Machine.Reduce(in, step, outcomes)
	r.save(next.Obj, intent)
	r.now = r.now.Add(min(max(next.Again, time.Second), time.Hour))
	if len(step.Decision.Do) == 0 && !step.Moved() {
		r.world = Settle(r.obj, r.world)
	}
	return nil
}

// TestNoVolumeLeaks tries every fault at every effect, together with every change after
// every effect, for a claim that is reserved and one that is not. In the end no intent is left,
// and the driver has a volume if and only if a PersistentVolume owns it.
func TestNoVolumeLeaks(t *testing.T) {
	const effects = 8 // more than there are
	runs, volumes := 0, 0
	for what := range changes {
		for after := range effects {
			for _, f := range []fault{none, crashBefore, crashAfter, wipedBefore, wipedAfter, lostAnswer, refusedOnce, answersLater} {
				for at := range 2 * effects {
					r := newRun(what, after+1, f, at/2+1)
					r.world.Claim.Reserved = at%2 == 1
					if err := r.toTheEnd(what); err != nil {
						t.Fatalf("%s after effect %d, %s at effect %d, reserved %t: %v", what, after+1, f, at/2+1, at%2 == 1, err)
					}
					runs++
					if r.world.Backend {
						volumes++
					}
				}
			}
		}
	}
	t.Logf("%d runs, %d of which ended with a volume that has an owner", runs, volumes)
}

func (r *run) toTheEnd(what string) error {
	for range 40 {
		if err := r.pass(); err != nil {
			return err
		}
	}
	if what == "the status is lost" { // the manager finds out that it was begun, and gives it up
		r.world.Request = GivenUp
		for range 40 {
			if err := r.pass(); err != nil {
				return err
			}
		}
	}
	owned := r.world.PV.Sight != NoPV
	switch {
	case r.world.Intent.Sight != presence.Gone:
		return fmt.Errorf("the intent is still there, in %s", r.obj.Status.Phase)
	case r.late:
		return nil // nobody asked again, so nothing was intended any more
	case r.world.Backend != owned:
		return fmt.Errorf("the driver has a volume: %t, a PersistentVolume owns one: %t", r.world.Backend, owned)
	case r.world.Claim.empty() && !r.world.Claim.Reserved && r.world.givenUp() && !owned:
		return fmt.Errorf("a claim is left that nobody will ever fill")
	}
	return nil
}
