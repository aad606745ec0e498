//go:build full

package valkey

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

const positions = 10

// TestScaleSurvivesKills kills the manager at ten positions of a scale-up and at ten of a scale-down. The cluster
// ends as it would have without, and nobody who writes to it notices.
func TestScaleSurvivesKills(t *testing.T) {
	s := newStage(t)
	m := s.Manager
	m.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = images.Valkey91 })
	up, down := size{5, 1}, size{3, 1}
	for _, to := range []size{up, down} {
		all := s.writesOf(func() { s.rescale(vkc, to) })
		harness.Row(t, "to %d × %d without kills: %d writes", to.masters, to.replicas, all)
	}
	for i := range positions {
		for _, to := range []size{up, down} {
			began := time.Now()
			s.resize(vkc, to)
			s.killAfter(m, began, 1+i, func() bool { return has(s.fresh(vkc), to) == nil })
			s.rescale(vkc, to)
		}
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}

// TestUpgradeSurvivesKills kills the manager ten times during one upgrade, and during the next.
func TestUpgradeSurvivesKills(t *testing.T) {
	s := newStage(t)
	m := s.Manager
	m.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	vkc, w := s.busy(plain)
	u := s.upgrade(vkc, images.Valkey91)
	began, kills := time.Now(), 0
	for step := 1; ; step++ {
		ended := s.killAfter(m, began, 3*step, func() bool {
			s.must(s.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u))
			return upgrade.Ended(u.Status.Phase)
		})
		if ended {
			break
		}
		kills++
	}
	s.ends(u, "Completed")
	s.runs(vkc, images.Valkey91)
	s.whole(vkc)
	harness.Row(t, "Completed after %s and %d kills", time.Since(began).Round(time.Second), kills)
	if kills < positions {
		t.Errorf("want at least %d kills", positions)
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}

// killAfter kills the manager after its n-th write since then and starts it again, unless all is over before.
func (s *stage) killAfter(m *product.Manager, began time.Time, n int, over func() bool) (ended bool) {
	s.T.Helper()
	harness.Eventually(s.T, upgradedWithin, poll/5, func() error {
		if done := s.writesSince(began); done < n {
			if ended = over(); !ended {
				return fmt.Errorf("%d of %d writes", done, n)
			}
		}
		return nil
	})
	if !ended {
		m.Kill()
		m.Start()
	}
	return ended
}

func (s *stage) writesOf(do func()) int {
	s.T.Helper()
	began := time.Now()
	do()
	return s.writesSince(began)
}

func (s *stage) fresh(vkc *valkeyv1.ValkeyCluster) *valkeyv1.ValkeyCluster {
	s.T.Helper()
	s.must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc))
	return vkc
}
