package valkey

import (
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestCreationSurvivesKills kills the manager right after the n-th write of a
// creation, for positions spread over all of them: each time the same healthy
// cluster comes of it.
func TestCreationSurvivesKills(t *testing.T) {
	s := newStage(t)
	m := harness.NewManager(t, s.b, area)
	m.Start()
	namespace := bedtest.Namespace(t, s.b)
	began := time.Now()
	vkc := s.create(namespace)
	s.running(vkc)
	s.sound(vkc)
	all := s.writesSince(began)
	s.empty(namespace, vkc)

	positions := harness.ByLevel(3, 10)
	for i := range positions {
		at := 1 + i*(all-1)/max(1, positions-1)
		t.Run(fmt.Sprintf("after write %d of %d", at, all), func(t *testing.T) {
			s := &stage{t: t, b: s.b, c: s.c}
			namespace := bedtest.Namespace(t, s.b)
			began := time.Now()
			vkc := s.create(namespace)
			harness.Eventually(t, runningWithin, poll/5, func() error {
				if n := s.writesSince(began); n < at {
					return fmt.Errorf("%d of %d writes", n, at)
				}
				return nil
			})
			m.Kill()
			m.Start()
			s.running(vkc)
			s.sound(vkc)
			s.empty(namespace, vkc)
		})
	}
}

func (s *stage) writesSince(began time.Time) int {
	s.t.Helper()
	writes, err := s.b.Writes(began, harness.User(area))
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, w := range bed.WithoutElections(writes) {
		if w.Resource != "events" {
			n++
		}
	}
	return n
}
