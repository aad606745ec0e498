package valkey

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestCreateSurvivesKills kills the manager right after the n-th write of a
// creation, for positions spread over all of them: each time the same healthy
// cluster comes of it.
func TestCreateSurvivesKills(t *testing.T) {
	s := newStage(t)
	m := s.Manager
	m.Start()
	namespace := bedtest.Namespace(t, s.Bed)
	began := time.Now()
	vkc := s.create(namespace)
	s.running(vkc)
	s.sound(vkc)
	all := s.writesSince(began)
	s.empty(namespace, vkc)

	positions := harness.ByLevel(1, 10)
	for i := range positions {
		at := all * (2*i + 1) / (2 * positions)
		t.Run(fmt.Sprintf("after write %d of %d", at, all), func(t *testing.T) {
			s := s.of(t)
			namespace := bedtest.Namespace(t, s.Bed)
			began := time.Now()
			vkc := s.create(namespace)
			harness.Eventually(t, runningWithin, poll/5, func() error { return s.reached(vkc, began, at) })
			m.Kill()
			m.Start()
			s.running(vkc)
			s.sound(vkc)
			s.empty(namespace, vkc)
		})
	}
}

// reached says nil when a creation has come to its n-th write. Moves may chain, so
// that it takes fewer: then it has come as far when the cluster runs.
func (s *stage) reached(vkc *valkeyv1.ValkeyCluster, began time.Time, n int) error {
	if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
		return err
	}
	if done := s.writesSince(began); done < n && vkc.Status.Phase != cluster.Running {
		return fmt.Errorf("%d of %d writes", done, n)
	}
	return nil
}

func (s *stage) writesSince(began time.Time) int {
	s.T.Helper()
	writes, err := s.Bed.Writes(began, harness.User(area))
	if err != nil {
		s.T.Fatal(err)
	}
	n := 0
	for _, w := range bed.WithoutElections(writes) {
		if w.Resource != "events" {
			n++
		}
	}
	return n
}
