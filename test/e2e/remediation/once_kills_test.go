//go:build full

package remediation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// positions is after how many writes of the manager it is killed: more than an execution takes.
const positions = 12

// TestOnceSurvivesKills kills the manager right after the n-th write of an execution, for every n, twice: the effect
// happens once, and the status says so. Nothing here takes a witness away, so no outcome is unknown.
func TestOnceSurvivesKills(t *testing.T) {
	s := newOnce(t)
	for _, name := range []string{"first", "undisturbed"} { // the first one makes the account of the action, too
		x, began := s.asks(name)
		s.truthful(s.over(x.Name), began)
		writes := s.writesSince(began)
		harness.Row(t, "%s: %d writes of the manager without faults: %v", name, len(writes), bed.CountWrites(writes))
	}
	for round := range 2 {
		for n := 1; n <= positions; n++ {
			name := fmt.Sprintf("killed-%d-%d", round, n)
			x, began := s.asks(name)
			if midway := s.kill(name, began, n); midway {
				s.countFaulted()
			}
			is := s.over(x.Name)
			if s.truthful(is, began) || is.Status.Effect != remediationv1.EffectApplied {
				s.Errorf("%s: %s, %s: %s", name, is.Status.Phase, is.Status.Effect, message(is))
			}
		}
	}
}

// kill kills the manager right after so many writes, or when the execution has ended, and starts another. It returns whether
// the execution was under way.
func (s *once) kill(name string, began time.Time, writes int) (midway bool) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, 5*time.Millisecond, func() error {
		if n := len(s.writesSince(began)); n < writes && !execution.Ended(s.get(name)) {
			return fmt.Errorf("%d of %d writes", n, writes)
		}
		return nil
	})
	s.manager.Kill()
	midway = !execution.Ended(s.get(name))
	s.manager.Start()
	return midway
}

// writesSince is what the manager has written, besides events and its election.
func (s *once) writesSince(began time.Time) []bed.Write {
	s.Helper()
	writes, err := s.bed.Writes(began, harness.User(area))
	if err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(bed.WithoutElections(writes), func(w bed.Write) bool { return w.Resource == "events" })
}

// TestOnceWithTwoManagers: a leader that stands still in the middle of an execution is replaced, and goes on while the
// other leads. Whichever of them releases the Job, the effect happens once.
func TestOnceWithTwoManagers(t *testing.T) {
	s := newOnce(t)
	other := newManager(t, s.bed)
	for n := 3; n <= 8; n++ {
		name := fmt.Sprintf("deposed-%d", n)
		x, began := s.asks(name)
		harness.Eventually(t, timeout.Wait, 5*time.Millisecond, func() error {
			if is := len(s.writesSince(began)); is < n && !execution.Ended(s.get(name)) {
				return fmt.Errorf("%d of %d writes", is, n)
			}
			return nil
		})
		s.manager.Pause()
		if !execution.Ended(s.get(name)) {
			s.countFaulted()
		}
		other.Start()
		is := s.over(x.Name)
		s.manager.Resume() // it finds out that it leads no more
		if s.truthful(is, began) {
			s.Errorf("%s: the outcome is unknown: %s", name, message(is))
		}
		other.Stop()
	}
}
