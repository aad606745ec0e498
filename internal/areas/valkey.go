package areas

import (
	"flag"

	"github.com/statecraft-dev/statecraft/internal/kube"
	area "github.com/statecraft-dev/statecraft/internal/valkey"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

func valkey() Area {
	return Area{
		Name: "valkey", Code: "valkey", Program: ManagerProgram,
		Setup: func(set *flag.FlagSet) func() kube.AreaSetup {
			var build spec.Builder
			set.StringVar(&build.NodeImage, "valkey-node-image", "statecraft.local/valkey-node:dev", "image of statecraft-valkey-node, which is copied into every pod of area valkey")
			return func() kube.AreaSetup { return area.Area(build) }
		},
		Machines: []Machine{
			machine(&cluster.Machine, "internal/valkey/cluster"),
			machine(&upgrade.Machine, "internal/valkey/upgrade"),
		},
	}
}
