package upgrade

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// soak keeps the shard after the canaries waiting, until they have done well for a while.
// Canaries that do not do well even after a pod had its time to come back end the upgrade.
func soak(in shard) (fsm.Decision, bool) {
	spec := in.Obj.Spec
	if spec.CanaryShards <= 0 || spec.SoakSeconds <= 0 {
		return fsm.Decision{}, false
	}
	upgraded, last := int32(0), time.Time{}
	for _, s := range in.Obj.Status.Shards {
		if s.Phase == ShardCompleted {
			upgraded++
			if s.Since.After(last) {
				last = s.Since.Time
			}
		}
	}
	if upgraded != spec.CanaryShards {
		return fsm.Decision{}, false
	}
	until := last.Add(seconds(spec.SoakSeconds, 0))
	doubt, healthy := in.World.healthy()
	switch left := until.Sub(in.Now); {
	case left > 0:
		return fsm.Wait(ReasonSoaking, "pods", "valkey").In(left).
			Because("The canary shards (%d) are upgraded and watched until %s, before others are upgraded.", upgraded, until.UTC().Format(time.RFC3339)), true
	case healthy:
		return fsm.Decision{}, false
	case waitedForCluster(in.Input) > podTimeout(in):
		return fsm.Fire(CanaryFailed, ReasonCanaryFailed).Because("After the canary shards (%d) were upgraded, the cluster did not stay healthy: %s.", upgraded, doubt), true
	}
	return fsm.Wait(ReasonSoaking, "pods", "valkey").In(recheck).Because("The canary shards (%d) are upgraded; waiting for the cluster to be healthy before others are upgraded: %s.", upgraded, doubt), true
}
