package areas

import (
	"flag"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	area "github.com/statecraft-dev/statecraft/internal/valkey"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

func valkey() Area {
	return Area{
		Name: "valkey", Code: "valkey", Program: ManagerProgram,
		Images: map[string]string{"valkey-node-image": "valkey-node"},
		Setup: func(set *flag.FlagSet) func() kube.AreaSetup {
			var o area.Options
			set.StringVar(&o.Build.NodeImage, "valkey-node-image", "statecraft.local/valkey-node:dev", "image of statecraft-valkey-node, which is copied into every pod of area valkey")
			set.IntVar(&o.Restarts, "valkey-restarts-at-a-time", 1, "how many clusters are restarted at a time because this version makes other pods of the same spec; with 0 only a person restarts them")
			set.BoolVar(&o.AwaitKubelet, "valkey-await-kubelet", false, "replace a primary only after its kubelet says that it ended, and never because its address refuses connections; for nodes with proxies that pods show no sign of")
			return func() kube.AreaSetup { return area.Area(o) }
		},
		Machines: []Machine{
			machine(&cluster.Machine, "internal/valkey/cluster").labelling(valkeyv1.ClusterLabel).
				showing("Shards", "status.masters", "Servers", "status.readyNodes", "Slots", "status.assignedSlots",
					"Version", "status.version", "Endpoint", "status.endpoint"),
			machine(&upgrade.Machine, "internal/valkey/upgrade").inParts("shards", "index", "Shard").
				showing("Cluster", "spec.clusterRef.name", "Shards", "status.upgradedShards", "From", "status.fromVersion", "To", "status.toVersion"),
		},
		Metrics: area.Metrics,
	}
}
