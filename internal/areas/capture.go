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
			machine(&keeper.Machine, "internal/capture/keeper").showing("Lost", "status.lostAt", "Expires", "status.expiresAt"),
			machine(&manifestrestore.Machine, "internal/capture/manifestrestore").sharing(api, "internal/capture/act/manifestrestore*.go").
				showing("Objects", "status.objects"),
			machine(&manifestcapture.Machine, "internal/capture/manifestcapture", "internal/capture/manifest").sharing(api, "internal/capture/act/manifestcapture*.go").
				showing("Expected", "status.expected", "Captured", "status.captured"),
			machine(&volumecapture.Machine, "internal/capture/volumecapture").sharing(api, "internal/capture/act/volumecapture*.go").
				showing("Artifact", "status.artifactRef.name", "Size", "status.restoreSize"),
			machine(&volumerestore.Machine, "internal/capture/volumerestore").sharing(api, "internal/capture/restorer/*.go").
				showing("Claim", "status.pvcRef.name"),
			machine(&restorer.Machine, "internal/capture/restorer"),
		},
		Metrics: area.Metrics,
	}
}

func captureFlags(set *flag.FlagSet) func() kube.AreaSetup {
	c := area.Defaults()
	set.DurationVar(&c.NamespaceGrace, "capture-namespace-grace", c.NamespaceGrace, "how long captures outlive a namespace that is deleted as a whole")
	set.DurationVar(&c.TTLFailed, "capture-ttl-failed", c.TTLFailed, "how long after its end a failed capture is deleted; 0 is never")
	set.DurationVar(&c.TTLSucceeded, "capture-ttl-succeeded", c.TTLSucceeded, "how long after its end a capture is deleted, and with it what was captured; 0 is never")
	set.Int64Var(&c.CheckpointBudget, "capture-checkpoint-budget", c.CheckpointBudget, "bytes that all checkpoints may hold in etcd; what would exceed it is refused; 0 is without a limit")
	set.Int64Var(&c.CheckpointShare, "capture-checkpoint-share", c.CheckpointShare, "bytes that the checkpoints of one namespace may hold; 0 is without a limit")
	set.DurationVar(&c.RetentionMin, "capture-retention-min", c.RetentionMin, "how long a capture outlives the deletion of its request at least, which may be an accident")
	set.DurationVar(&c.RetentionMax, "capture-retention-max", c.RetentionMax, "for how long at most a request may ask to be outlived by its capture; 0 is without a limit")
	set.IntVar(&c.Captures, "capture-limit", c.Captures, "how many volume captures, and how many manifest captures, a namespace may keep, those included that outlive their request; 0 is without a limit")
	return func() kube.AreaSetup { return area.Area(c) }
}
