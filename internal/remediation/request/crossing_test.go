package request

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// TestCrossingRequests: of two requests on the same two targets, asked for in opposite order, both end, however their passes
// interleave. Each holds what it has taken until its end.
func TestCrossingRequests(t *testing.T) {
	for order := range 64 {
		c := &crossing{holders: map[types.UID]types.UID{}, now: createdAt.Time}
		a := c.add("a", "web", "till")
		b := c.add("b", "till", "web")
		for pass := 0; pass < 400 && !(Ended(a.rr) && Ended(b.rr)); pass++ {
			next := a
			if order>>(pass%6)&1 == 1 {
				next = b
			}
			if err := c.pass(next); err != nil {
				t.Fatalf("order %b, pass %d: %v", order, pass, err)
			}
			if pass > 200 { // whoever comes first has ended, or never will
				if err := c.pass(a); err != nil {
					t.Fatal(err)
				}
				if err := c.pass(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		if a.rr.Status.Phase != Completed || b.rr.Status.Phase != Completed {
			t.Errorf("order %b: a is %s (%s), b is %s (%s)", order, a.rr.Status.Phase, a.rr.Status.WaitingFor, b.rr.Status.Phase, b.rr.Status.WaitingFor)
		}
	}
}

// crossing is a world with several requests.
type crossing struct {
	holders map[types.UID]types.UID // of targets
	all     []*crosser
	now     time.Time
}

// crosser is one of them.
type crosser struct {
	rr    *remediationv1.RemediationRequest
	world World
}

func (c *crossing) add(name string, targets ...string) *crosser {
	rr := object()
	rr.Name, rr.UID, rr.Spec.Steps = name, types.UID(name), nil
	one := &crosser{rr: rr}
	for _, target := range targets {
		rr.Spec.Steps = append(rr.Spec.Steps, remediationv1.RemediationStep{Name: target, Action: "rollout_restart", Target: remediationv1.TargetRef{Kind: "Deployment", Name: target}})
		one.world.Looks = append(one.world.Looks, StepLook{Outcome: execution.Planned, Reserves: deployment(target)})
	}
	c.all = append(c.all, one)
	return one
}

// pass is one pass over one of them.
func (c *crossing) pass(one *crosser) error {
	c.now = c.now.Add(time.Second)
	one.world = Settle(one.rr, one.world)
	w := one.world
	w.Children.Looked = true
	for _, t := range one.rr.Status.Targets {
		w.Targets = append(w.Targets, Target{UID: t.UID, Fact: c.fact(one, t.UID)})
	}
	in := input{Obj: one.rr, World: w, Now: c.now}
	s, err := Machine.Step(in)
	if err != nil {
		return err
	}
	var outcomes []fsm.Outcome
	for _, e := range s.Decision.Do {
		if take, is := e.(reserve.Take); is {
			if c.fact(one, take.Target.UID).State == reserve.Others {
				return fmt.Errorf("%s takes what is reserved for another", one.rr.Name)
			}
			c.holders[take.Target.UID] = one.rr.UID
		}
		one.world = Perform(one.world, e)
		outcomes = append(outcomes, fsm.Outcome{Effect: e})
	}
	one.rr = Machine.Reduce(in, s, outcomes).Obj
	return nil
}

// fact is whose a target is: one that has ended holds nothing.
func (c *crossing) fact(one *crosser, target types.UID) reserve.Fact {
	holder := c.holders[target]
	i := slices.IndexFunc(c.all, func(o *crosser) bool { return o.rr.UID == holder })
	switch {
	case i < 0 || Ended(c.all[i].rr):
		return reserve.Fact{State: reserve.Free}
	case c.all[i] == one:
		return reserve.Fact{State: reserve.Ours}
	}
	return reserve.Fact{State: reserve.Others, Holder: "RemediationRequest shop/" + c.all[i].rr.Name}
}
