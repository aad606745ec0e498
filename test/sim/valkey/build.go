package valkey

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// build builds the controllers of the area, as its setup does.
func (s *story) build(c *sim.Cell) {
	env := c.Env()
	env.ReservationNamespace = harness.SystemNamespace
	env.OneShot = func(kind string) bool { return kind == upgradeKind.GroupKind().String() }
	servers := serverCalls{cell: c, servers: s.servers, stir: func() { s.kubelet.stirred.Store(true) }, fails: s.failsOver}
	work := &kube.Worker{Wake: c.Wake(clusterKind)}
	parts := valkey.Parts{
		Build: spec.Builder{NodeImage: "node"}, Connect: valkey.ConnectTo(servers), Work: work,
		Sampler: valkey.NewSampler(env, valkey.ConnectTo(servers), c.Wake(clusterKind)), Access: &kube.Worker{Wake: c.Wake(clusterKind)},
	}
	c.Sample(parts.Sampler)
	c.Work(work)
	upgrades, clusters := valkey.NewUpgrade(env, parts), valkey.NewCluster(env, parts)
	c.Add(sim.Controller{Reconciler: upgrades, Kind: upgradeKind, Echo: upgrades.Store.Wrote, Wakes: s.wakesUpgrades})
	c.Add(sim.Controller{Reconciler: clusters, Kind: clusterKind, Echo: clusters.Store.Wrote, Wakes: wakesClusters})
}

// wakesClusters is as in setup.go: pods by their label, upgrades by what they name, other
// children by their owner, unless they were just made.
func wakesClusters(change sim.Change) []read.Key {
	obj := lastOf(change)
	name := ""
	switch owner := metav1.GetControllerOf(obj); {
	case change.GroupVersionKind == podKind:
		name = obj.GetLabels()[valkeyv1.ClusterLabel]
	case change.GroupVersionKind == upgradeKind:
		name, _, _ = unstructured.NestedString(obj.Object, "spec", "clusterRef", "name")
	case slices.Contains(childKinds, change.GroupVersionKind) && change.Was != nil && owner != nil && owner.Kind == clusterKind.Kind:
		name = owner.Name
	}
	if name == "" {
		return nil
	}
	return []read.Key{{Namespace: change.Namespace, Name: name}}
}

// wakesUpgrades is as in setup.go: those that have not ended of the cluster that something
// belongs to.
func (s *story) wakesUpgrades(change sim.Change) (keys []read.Key) {
	name := lastOf(change).GetLabels()[valkeyv1.ClusterLabel]
	switch change.GroupVersionKind {
	case clusterKind:
		name = change.Name
	case statefulSetKind, podKind:
	default:
		return nil
	}
	for _, obj := range s.world.Shown(upgradeKind) {
		if u := obj.(*valkeyv1.ValkeyUpgrade); u.Spec.ClusterRef.Name == name && !upgrade.Ended(u.Status.Phase) {
			keys = append(keys, read.Key{Namespace: change.Namespace, Name: u.Name})
		}
	}
	return keys
}

func lastOf(change sim.Change) *unstructured.Unstructured {
	if change.Is != nil {
		return change.Is
	}
	return change.Was
}
