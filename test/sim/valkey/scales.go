package valkey

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// openScales is the story of a cluster that gets a shard more, and gives it back.
func openScales(w *sim.World) *sim.Play {
	s := newStory(w)
	s.cluster.Spec.ReplicasPerMaster = new(int32(0))
	play := s.play()
	play.Steps = []sim.Step{
		{Name: "make a cluster", Do: func(ctx context.Context) error { return w.Client.Create(ctx, s.cluster) }, Until: s.runs, Calm: true},
		{Name: "add a shard", Do: func(ctx context.Context) error { return s.resize(ctx, 4) }, Until: func() error { return s.hasShards(4) }},
		{Name: "take it away", Do: func(ctx context.Context) error { return s.resize(ctx, 3) }, Until: func() error { return s.hasShards(3) }},
	}
	play.End = func(found []*unstructured.Unstructured) error {
		if err := s.hasShards(3); err != nil {
			return err
		}
		return s.served(found, 3)
	}
	return play
}

func (s *story) resize(ctx context.Context, masters int32) error {
	c := s.cluster.DeepCopy()
	if !s.world.Find(c) {
		return fmt.Errorf("the cluster is gone")
	}
	was := c.DeepCopy()
	c.Spec.Masters = masters
	return s.world.Client.Patch(ctx, c, client.MergeFrom(was))
}

// hasShards says that the cluster runs with so many shards, and equal shares.
func (s *story) hasShards(n int32) error {
	if err := s.runs(); err != nil {
		return err
	}
	c := s.cluster.DeepCopy()
	s.world.Find(c)
	if c.Status.Masters != n || len(c.Status.Shards) != int(n) || c.Status.CurrentOperation != "" || c.Status.Phase != cluster.Running {
		return fmt.Errorf("%d shards: %v", c.Status.Masters, c.Status.Shards)
	}
	for _, shard := range c.Status.Shards {
		if share := valkeyv1.Slots / n; shard.Slots < share || shard.Slots > share+1 {
			return fmt.Errorf("shard %d has %d slots", shard.Index, shard.Slots)
		}
	}
	return nil
}
