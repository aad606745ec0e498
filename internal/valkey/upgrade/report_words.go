package upgrade

import (
	"slices"
	"strings"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const longestFailure = 512 // as the schema has it

// noteFailure keeps why a shard was given up: when the upgrade has ended no lane shows it
// any more.
func noteFailure(out *valkeyv1.ValkeyUpgrade, hops []fsm.Hop) {
	if out.Status.Failure != nil {
		return
	}
	for _, h := range hops {
		if h.Lane == "" || h.To != ShardHasFailed {
			continue
		}
		message := h.Message
		if shard := "Shard " + h.Lane + ": "; !strings.Contains(message, shard) {
			message = shard + message
		}
		words := []rune(message)
		if len(words) > longestFailure {
			words = append(words[:longestFailure-1], '…')
		}
		out.Status.Failure = &valkeyv1.UpgradeFailure{Shard: int32(indexOf(h.Lane)), Reason: h.Reason, Message: string(words)} //nolint:gosec // at most 250
		return
	}
	if out.Status.Phase == RollingBack {
		out.Status.Failure = &valkeyv1.UpgradeFailure{Reason: ReasonShardFailed}
	}
}

// noteVersions notes what ran before, and what the first server that came back runs.
func noteVersions(s *valkeyv1.ValkeyUpgradeStatus, w World) {
	begun := slices.ContainsFunc(s.Shards, func(shard valkeyv1.ShardUpgrade) bool { return shard.WantTemplate != "" })
	if _, silent := w.Nodes.Silent(); s.FromVersion == "" && !begun && !silent && w.looked() {
		s.FromVersion = versionOf(w.Nodes, func(topology.Node) bool { return true })
	}
	if s.ToVersion == "" && s.Phase == Completed { // every shard had it
		s.ToVersion = versionOf(w.Nodes, isCurrent)
	}
	for _, shard := range s.Shards {
		if s.ToVersion != "" {
			return
		}
		set, _ := w.shard(int(shard.Index))
		if isForward(shard.WantTemplate) && set.Settled && set.Template == shard.WantTemplate {
			s.ToVersion = versionOf(w.Nodes.Shard(set.Index), isCurrent)
		}
	}
}

// versionOf is the lowest version among the servers that are meant.
func versionOf(nodes topology.Nodes, meant func(topology.Node) bool) (low string) {
	for _, n := range nodes {
		if n.Server != nil && meant(n) && (low == "" || topology.Older(n.Server.Version, low)) {
			low = n.Server.Version
		}
	}
	return low
}
