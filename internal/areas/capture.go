package areas

import (
	"flag"

	area "github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

func capture() Area {
	const api = "api/capture/v1alpha1"
	return Area{
		Name: "capture", Code: "capture", Program: ManagerProgram, Beside: []string{"capture-restorer"},
		Setup: captureFlags,
		Machines: []Machine{
			machine(&keeper.Machine, "internal/capture/keeper"),
			machine(&manifestrestore.Machine, "internal/capture/manifestrestore").sharing(api, "internal/capture/act/manifestrestore*.go"),
			machine(&manifestcapture.Machine, "internal/capture/manifestcapture", "internal/capture/manifest").sharing(api, "internal/capture/act/manifestcapture*.go"),
			machine(&volumecapture.Machine, "internal/capture/volumecapture").sharing(api, "internal/capture/act/volumecapture*.go"),
			machine(&volumerestore.Machine, "internal/capture/volumerestore").sharing(api, "internal/capture/restorer/*.go"),
			machine(&restorer.Machine, "internal/capture/restorer"),
		},
		Metrics: area.Metrics,
	}
}

func captureFlags(set *flag.FlagSet) func() kube.AreaSetup {
	c := area.Defaults()
	set.StringVar(&c.Namespace, "capture-namespace", c.Namespace, "namespace in which area capture keeps keys and holders of detached volumes")
	set.DurationVar(&c.NamespaceGrace, "capture-namespace-grace", c.NamespaceGrace, "how long captures outlive a namespace that is deleted as a whole")
	set.DurationVar(&c.TTLFailed, "capture-ttl-failed", c.TTLFailed, "how long after its end a failed capture is deleted; 0 is never")
	set.DurationVar(&c.TTLSucceeded, "capture-ttl-succeeded", c.TTLSucceeded, "how long after its end a capture is deleted, and with it what was captured; 0 is never")
	set.Int64Var(&c.CheckpointBudget, "capture-checkpoint-budget", c.CheckpointBudget, "bytes that all checkpoints should hold in etcd at most; a metric for alerts, nothing is refused")
	return func() kube.AreaSetup { return area.Area(c) }
}
