package fsmtest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// epoch has a fraction of a second on purpose: a status keeps none.
var epoch = time.Unix(1_700_000_000, 700_000_000).UTC()

const (
	patience = 1000 // passes until a run is given up
	restful  = 3    // passes without a change, each at its time, after which a phase is a rest
	gone     = "gone"
)

// entry is what one pass did, and from where.
type entry[T fsm.Subject[T], W any] struct {
	before  *sim[T, W]
	where   string // the phase that decided, and the reason it gave
	effects int
	quiet   bool
}

// sim runs one object in one world.
type sim[T fsm.Subject[T], W any] struct {
	Bench[T, W]
	obj    T
	was    T // the object before its last change
	world  W
	seen   W // what the last pass saw
	now    time.Time
	passes int
	log    []*entry[T, W] // what each pass did
	quiet  bool           // the last pass neither moved, acted, saved nor changed a thing
	done   map[string]int // effects that changed the world
	end    string         // how a run without faults ended
	fault  fault
	fail   func(fsm.Effect) error
	trace  func(fsm.Step[T], []fsm.Outcome, fsm.Next[T])
}

func (b Bench[T, W]) sim() *sim[T, W] {
	obj, w := b.Object(), b.World()
	return &sim[T, W]{Bench: b, obj: obj, was: obj, world: w, seen: w, now: epoch, done: map[string]int{}}
}

// fork is another run that stands where s does.
func (s *sim[T, W]) fork() *sim[T, W] {
	other := *s // objects and worlds are never written to, only replaced
	other.done, other.log = maps.Clone(s.done), nil
	return &other
}

// pass is what a controller does: observe, step, act, reduce, save.
func (s *sim[T, W]) pass() (again time.Duration, err error) {
	before := s.fork()
	s.passes++
	in := s.observe()
	step, err := s.step(in)
	if err != nil {
		return 0, err
	}
	if err := s.durable(step); err != nil {
		return 0, err
	}
	outcomes := s.act(step.Decision.Do)
	next := s.reduce(in, step, outcomes)
	if s.trace != nil {
		s.trace(step, outcomes, next)
	}
	changed := !reflect.DeepEqual(in.Obj, next.Obj) && !equality.Semantic.DeepEqual(in.Obj, next.Obj)
	s.quiet = step.Decision.Waits() && len(next.Hops) == 0 && !changed
	s.log = append(s.log, &entry[T, W]{before, s.where(step), len(outcomes), s.quiet})
	switch {
	case s.strikes(crash), s.strikes(staleSelf): // nothing is saved
		return time.Second, nil
	case s.strikes(staleView):
		next.Again = min(next.Again, time.Second) // the cache catches up, and wakes us
	}
	if changed {
		s.was = s.obj
		s.obj, err = saved(next.Obj)
	}
	return next.Again, err
}

// observe is what this pass gets to see.
func (s *sim[T, W]) observe() fsm.Input[T, W] {
	if s.strikes(amnesia) {
		version := s.obj.GetResourceVersion()
		s.obj = s.posted()
		s.obj.SetResourceVersion(version)
	}
	in := fsm.Input[T, W]{Obj: s.obj.DeepCopy(), World: s.world, Now: s.now}
	if s.strikes(staleView) {
		in.World = s.seen
	}
	if s.strikes(staleSelf) {
		in.Obj = s.was.DeepCopy()
	}
	s.seen = s.world
	return in
}

// posted is the object without what was written to its status.
func (s *sim[T, W]) posted() T {
	if s.Lost != nil {
		return s.Lost()
	}
	return s.Object()
}

func (s *sim[T, W]) act(effects []fsm.Effect) (outcomes []fsm.Outcome) {
	for i, e := range effects {
		if s.strikes(crash) && i == s.fault.nth {
			break
		}
		o := fsm.Outcome{Effect: e, Err: s.refuse(e)}
		if o.Err == nil && !(s.strikes(loseEffect) && i == s.fault.nth) {
			s.perform(e)
		}
		if s.strikes(loseAnswer) && i == s.fault.nth {
			o.Err = errors.New("timeout")
		}
		if outcomes = append(outcomes, o); o.Err != nil {
			break
		}
	}
	return outcomes
}

// refuse is why an effect is not performed: a test says so, or the adapter, which sees what the pass does not.
func (s *sim[T, W]) refuse(e fsm.Effect) error {
	if s.fail != nil {
		if err := s.fail(e); err != nil {
			return err
		}
	}
	if s.strikes(staleSelf) && isProven(e) {
		return &fsm.Error{Class: fsm.Changed, Err: errors.New("the object has changed since it was decided upon")}
	}
	return nil
}

// isProven says that the adapter reads the object live before it performs an effect.
func isProven(e fsm.Effect) bool {
	proven, is := e.(fsm.Proven)
	return is && proven.Evidence() != ""
}

// perform does an effect, and counts it if that changed the world.
func (s *sim[T, W]) perform(e fsm.Effect) {
	after := s.Perform(s.world, e)
	if role := s.role(e); role != "" && !reflect.DeepEqual(after, s.world) {
		s.done[role]++
	}
	s.world = after
}

// where says in which phase what is decided, of the object or of a lane.
func (s *sim[T, W]) where(step fsm.Step[T]) string {
	at := string(step.Obj.GetProgress().Phase)
	if step.Lane != "" {
		at += "/" + string(s.Machine.Lanes.At(step.Obj, step.Lane).Phase)
	}
	return at + "/" + string(step.Decision.Reason)
}

// durable says that effects belong to a phase that is already saved.
func (s *sim[T, W]) durable(step fsm.Step[T]) error {
	if len(step.Decision.Do) == 0 || s.strikes(staleSelf) {
		return nil
	}
	was, is := s.obj.GetProgress().Phase, step.Obj.GetProgress().Phase
	if step.Lane != "" && was == is {
		was, is = s.Machine.Lanes.At(s.obj.DeepCopy(), step.Lane).Phase, s.Machine.Lanes.At(step.Obj, step.Lane).Phase
	}
	if was != is {
		return fmt.Errorf("%v in %s, but %s is saved", step.Decision.Do, is, was)
	}
	return nil
}

// run goes on until the object has ended or rests, and says how.
func (s *sim[T, W]) run() (end string, err error) {
	for rests := 0; s.passes < patience; {
		again, err := s.pass()
		if err != nil {
			return "", fmt.Errorf("pass %d: %w", s.passes, err)
		}
		struck := s.passes >= s.fault.at
		if end, over := s.over(); over && (struck || end == gone) {
			return end, nil
		}
		again = s.advance(again)
		rests++
		if !s.quiet || s.Machine.Phases[s.obj.GetProgress().Phase].Class == fsm.Working {
			rests = 0
		}
		if (again == fsm.Never || rests > restful) && struck {
			return string(s.obj.GetProgress().Phase), nil
		}
	}
	return "", fmt.Errorf("no end after %d passes: %s", s.passes, text(s.obj))
}

// advance lets others do their part, which wakes the object, or else time pass
// until it wants to be looked at.
func (s *sim[T, W]) advance(again time.Duration) time.Duration {
	if again == 0 {
		return 0
	}
	if after := s.settle(s.obj, s.world); !reflect.DeepEqual(after, s.world) {
		s.world, again = after, time.Second
	}
	s.now = s.now.Add(min(again, 24*time.Hour))
	return again
}

// over says that the object has ended, and how: phase/reason.
func (s *sim[T, W]) over() (string, bool) {
	p := s.obj.GetProgress()
	if s.Gone != nil && s.Gone(s.world) {
		return gone, true
	}
	if rule := s.Machine.Phases[p.Phase]; rule.Decide == nil && p.Phase != "" {
		end := string(p.Phase)
		for _, c := range p.Conditions {
			if c.Type == fsm.Ready {
				end += "/" + c.Reason
			}
		}
		return end, true
	}
	return "", false
}
