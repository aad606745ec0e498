package valkey

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestScaling takes a cluster through other sizes and back.
func TestScaling(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	for _, size := range []struct{ masters, replicas int32 }{
		{5, 1}, {3, 1}, {3, 2}, {3, 0}, {4, 1}, {3, 1},
	} {
		began := time.Now()
		was := c.DeepCopy()
		c.Spec.Masters, c.Spec.ReplicasPerMaster = size.masters, ptr.To(size.replicas)
		if err := s.Patch(t.Context(), c, client.MergeFrom(was)); err != nil {
			t.Fatal(err)
		}
		s.hasSize(c, size.masters, size.replicas)
		t.Logf("%d × %d after %s", size.masters, size.replicas, time.Since(began).Round(time.Millisecond))
	}
}

// hasSize waits until a cluster runs in a size, with equal shares.
func (s *stage) hasSize(c *valkeyv1.ValkeyCluster, masters, replicas int32) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		nodes := masters * (1 + replicas)
		if c.Status.Phase != cluster.Running || c.Status.ReadyNodes != fmt.Sprintf("%d/%d", nodes, nodes) || c.Status.Masters != masters ||
			c.Status.AssignedSlots != "16384/16384" || c.Status.CurrentOperation != "" || len(c.Status.Shards) != int(masters) {
			return fmt.Errorf("is %s, waiting for %q, %s nodes, %d shards: %v", c.Status.Phase, c.Status.WaitingFor, c.Status.ReadyNodes, c.Status.Masters, c.Status.Conditions)
		}
		for _, shard := range c.Status.Shards {
			if share := valkeyv1.Slots / masters; shard.Slots < share || shard.Slots > share+1 || shard.ReadyReplicas != replicas {
				return fmt.Errorf("shard %+v", shard)
			}
		}
		return nil
	})
}
