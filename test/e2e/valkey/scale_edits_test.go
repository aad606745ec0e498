//go:build full

package valkey

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestScaleUnusualEdits asks for what people ask for when they change their mind, are in a hurry or have a bad day.
func TestScaleUnusualEdits(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	for name, edit := range map[string]func(*stage, *valkeyv1.ValkeyCluster){
		"masters up and replicas down at once": func(s *stage, vkc *valkeyv1.ValkeyCluster) {
			s.rescale(vkc, size{4, 0})
			s.rescale(vkc, size{3, 1})
		},
		"back in the middle": func(s *stage, vkc *valkeyv1.ValkeyCluster) {
			s.resize(vkc, size{6, 1})
			s.phase(vkc, cluster.RebalancingSlots)
			s.rescale(vkc, size{3, 1})
		},
		"after a person has approved it": func(s *stage, vkc *valkeyv1.ValkeyCluster) {
			s.kubectl("patch", "vkc", "-n", vkc.Namespace, vkc.Name, "--type=merge", "-p", `{"spec":{"approvePlan":true}}`)
			s.resize(vkc, size{4, 1})
			s.approve(vkc)
			s.rescale(vkc, size{4, 1})
		},
		"while a replica hangs": func(s *stage, vkc *valkeyv1.ValkeyCluster) {
			hung := s.pods(vkc)[s.replicaOf(vkc, 0)]
			s.signal(hung, "SIGSTOP")
			s.phase(vkc, cluster.Degraded)
			s.resize(vkc, size{3, 2})
			s.phase(vkc, cluster.WaitingForNewPods)
			s.signal(hung, "SIGCONT")
			s.rescale(vkc, size{3, 2})
		},
		"together with an upgrade": func(s *stage, vkc *valkeyv1.ValkeyCluster) {
			u := s.upgrade(vkc, images.Valkey91)
			s.resize(vkc, size{4, 1})
			s.oneWaitsForTheOther(vkc, u)
			s.ends(u, "Completed")
			s.rescale(vkc, size{4, 1})
			s.runs(vkc, images.Valkey91)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.of(t)
			vkc, w := s.busy(plain)
			edit(s, vkc)
			s.whole(vkc)
			w.Check(t)
			s.empty(vkc.Namespace, vkc)
		})
	}
}

// approve waits until the cluster waits for a person, and does what it says.
func (s *stage) approve(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	var command string
	harness.Eventually(s.T, runningWithin, poll, func() error {
		_, said, waits := strings.Cut(s.fresh(vkc).Status.WaitingFor, "`kubectl ")
		if !waits {
			return fmt.Errorf("is %s, waiting for %q", vkc.Status.Phase, vkc.Status.WaitingFor)
		}
		command, _, _ = strings.Cut(said, "`")
		return nil
	})
	if len(s.pods(vkc)) != 6 {
		s.T.Errorf("%d pods before anybody approved more", len(s.pods(vkc)))
	}
	s.kubectl(strings.Fields(command)...)
}

// phase waits for a phase.
func (s *stage) phase(vkc *valkeyv1.ValkeyCluster, in meta.Phase) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		if is := s.fresh(vkc).Status.Phase; is != in {
			return fmt.Errorf("is %s, waiting for %q", is, vkc.Status.WaitingFor)
		}
		return nil
	})
}

func (s *stage) replicaOf(vkc *valkeyv1.ValkeyCluster, shard int) string {
	for ordinal := range 2 {
		if pod := fmt.Sprintf("%s-%d-%d", vkc.Name, shard, ordinal); pod != vkc.Status.Shards[shard].Primary {
			return pod
		}
	}
	return ""
}

// oneWaitsForTheOther waits until either says that the other has the cluster.
func (s *stage) oneWaitsForTheOther(vkc *valkeyv1.ValkeyCluster, u *valkeyv1.ValkeyUpgrade) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		s.must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(u), u))
		// A cluster that stands says it by its condition, an upgrade, which has none until it has ended, by what it waits for.
		says := []string{u.Status.WaitingFor}
		for _, c := range s.fresh(vkc).Status.Conditions {
			says = append(says, c.Message)
		}
		for _, words := range says {
			if strings.Contains(words, ", which has reserved ") {
				harness.Row(s.T, "%s", words)
				return nil
			}
		}
		return fmt.Errorf("%s, waiting for %q; %+v", progress(u), u.Status.WaitingFor, vkc.Status.Conditions)
	})
}
