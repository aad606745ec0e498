package valkey

import (
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/valkey"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// build builds the controllers of the area, as its setup does.
func (s *story) build(c *sim.Cell) {
	env := c.Env()
	env.Namespace = harness.SystemNamespace
	env.Kinds = valkey.Kinds()
	servers := serverCalls{cell: c, servers: s.servers, stir: func() { s.kubelet.stirred.Store(true) }, fails: s.failsOver}
	work := &kube.Worker[struct{}]{Wake: c.Wake(clusterKind)}
	parts := valkey.Parts{
		Build: spec.Builder{NodeImage: "node"}, Restarts: 1, Connector: valkey.ConnectTo(servers), Work: work,
		Sampler: valkey.NewSampler(env, valkey.ConnectTo(servers), c.Wake(clusterKind)), Access: &kube.Worker[struct{}]{Wake: c.Wake(clusterKind)},
	}
	c.Sample(parts.Sampler)
	c.Work(work)
	upgrades, clusters := valkey.NewUpgrade(env, parts), valkey.NewCluster(env, parts)
	if s.deaf {
		clusters.Machine = deafened()
	}
	c.Cache(append(valkey.Caches(), kube.ReservationLeases(harness.SystemNamespace))...)
	c.Index(valkey.Indexes()...)
	c.Add(sim.Controller{Reconciler: upgrades, Kind: upgradeKind, Echo: upgrades.Store.Wrote, Wakes: valkey.UpgradeWakes()})
	c.Add(sim.Controller{Reconciler: clusters, Kind: clusterKind, Echo: clusters.Store.Wrote, Wakes: valkey.ClusterWakes(&kube.Waker{})})
}
