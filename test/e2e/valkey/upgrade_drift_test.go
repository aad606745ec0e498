//go:build full

package valkey

import (
	"fmt"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// TestUpgradeOutlivesEdits upgrades a cluster whose spec goes on naming the old image. That is told; an edit of something
// else restarts servers on the new one; and to name it in the spec, as is told, restarts nobody.
func TestUpgradeOutlivesEdits(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey81, images.Valkey91))
	vkc := s.createAs(bedtest.Namespace(t, s.Bed), func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = images.Valkey81 })
	s.running(vkc)
	w := writer.Start(t, s.addr(vkc))
	w.Await(t, writesBefore)
	s.ends(s.upgrade(vkc, images.Valkey91), "Completed")
	s.runs(vkc, images.Valkey91)
	s.tells(vkc, "set it to what runs")

	edited := s.follows(vkc, images.Valkey91, func(v *valkeyv1.ValkeyCluster) {
		v.Spec.Scheduling.PriorityClassName = "system-cluster-critical"
	})
	s.ends(edited, "Completed")
	s.runs(vkc, images.Valkey91)
	harness.Row(t, "an edit after an upgrade was followed on the image of the upgrade")

	before, was := s.pods(vkc), vkc.DeepCopy()
	vkc.Spec.Image = images.Valkey91
	s.must(s.Client.Patch(t.Context(), vkc, client.MergeFrom(was)))
	s.tells(vkc, "all 16384 slots are served")
	for name, p := range s.pods(vkc) {
		if p.UID != before[name].UID {
			t.Errorf("%s was restarted", name)
		}
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}

// tells waits until a cluster that is well has seen its spec, and ends its words like this.
func (s *stage) tells(vkc *valkeyv1.ValkeyCluster, end string) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		s.must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc))
		ready := apimeta.FindStatusCondition(vkc.Status.Conditions, fsm.Ready)
		if ready == nil || vkc.Status.ObservedGeneration != vkc.Generation || !strings.HasSuffix(ready.Message, end) {
			return fmt.Errorf("says %+v", ready)
		}
		return nil
	})
}
