package fsmtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// epoch has a fraction of a second on purpose: a status keeps none.
var epoch = time.Unix(1_700_000_000, 700_000_000).UTC()

// fault is one thing that goes wrong in one pass.
type fault int

const (
	nothing    fault = iota
	loseSave         // crash between acting and saving
	loseEffect       // the effect was answered and did not happen
	loseAnswer       // the effect happened and was not answered
	amnesia          // the status is gone before the pass
	staleView        // the pass sees the world of the pass before
)

func (f fault) String() string {
	return [...]string{"nothing", "lost save", "lost effect", "lost answer", "amnesia", "stale view"}[f]
}

// sim runs one object in one world.
type sim[T fsm.Subject[T], W any] struct {
	Bench[T, W]
	obj    T
	world  W
	seen   W // what the last pass saw
	now    time.Time
	passes int
	done   map[string]int // effects that changed the world
	fault  fault
	at     int // the pass in which it strikes; 0 is none
	fail   func(fsm.Effect) error
	trace  func(fsm.Step[T], []fsm.Outcome, []fsm.Hop)
}

func (b Bench[T, W]) sim() *sim[T, W] {
	w := b.World()
	return &sim[T, W]{Bench: b, obj: b.Object(), world: w, seen: w, now: epoch, done: map[string]int{}}
}

func (s *sim[T, W]) strikes(f fault) bool { return s.fault == f && s.passes == s.at }

// pass is what a controller does: observe, step, act, reduce, save.
func (s *sim[T, W]) pass() (again time.Duration, err error) {
	s.passes++
	if s.strikes(amnesia) {
		meta := s.obj
		s.obj = s.Object()
		s.obj.SetResourceVersion(meta.GetResourceVersion())
	}
	in := fsm.Input[T, W]{Obj: s.obj.DeepCopy(), World: s.world, Now: s.now}
	if s.strikes(staleView) {
		in.World = s.seen
	}
	s.seen = s.world
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
		s.trace(step, outcomes, next.Hops)
	}
	if s.strikes(loseSave) {
		return time.Second, nil
	}
	again = next.Again
	if s.obj, err = saved(next.Obj); s.strikes(staleView) {
		again = min(again, time.Second) // the cache catches up, and wakes us
	}
	return again, err
}

func (s *sim[T, W]) act(effects []fsm.Effect) (outcomes []fsm.Outcome) {
	for _, e := range effects {
		o := fsm.Outcome{Effect: e}
		if s.fail != nil {
			o.Err = s.fail(e)
		}
		if o.Err == nil && !s.strikes(loseEffect) {
			after := s.Perform(s.world, e)
			if text(after) != text(s.world) {
				s.done[e.String()]++
			}
			s.world = after
		}
		if s.strikes(loseAnswer) {
			o.Err = errors.New("timeout")
		}
		if outcomes = append(outcomes, o); o.Err != nil {
			break
		}
	}
	return outcomes
}

// durable says that effects belong to a phase that is already saved.
func (s *sim[T, W]) durable(step fsm.Step[T]) error {
	if len(step.Decision.Do) == 0 {
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
	for range 500 {
		again, err := s.pass()
		if err != nil {
			return "", fmt.Errorf("pass %d: %w", s.passes, err)
		}
		if over, end := s.over(); over && s.passes >= s.at {
			return end, nil
		}
		if again == 0 {
			continue
		}
		if after := s.settle(s.obj, s.world); text(after) != text(s.world) {
			s.world, again = after, time.Second // a watch wakes us
		} else if again == fsm.Never {
			if s.passes >= s.at {
				return string(s.obj.GetProgress().Phase), nil
			}
			again = time.Minute
		}
		s.now = s.now.Add(again)
	}
	return "", fmt.Errorf("no end after %d passes: %s", s.passes, text(s.obj))
}

// over says that the object has ended, and how: phase/reason.
func (s *sim[T, W]) over() (bool, string) {
	p := s.obj.GetProgress()
	if s.Gone != nil && s.Gone(s.world) {
		return true, "gone"
	}
	if rule := s.Machine.Phases[p.Phase]; rule.Decide == nil && p.Phase != "" {
		end := string(p.Phase)
		for _, c := range p.Conditions {
			if c.Type == fsm.Ready {
				end += "/" + c.Reason
			}
		}
		return true, end
	}
	return false, ""
}
