package upgrade

import (
	"slices"
	"strconv"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideRollingBack judges the lanes on their way back.
func decideRollingBack(in input) fsm.Decision {
	failure := in.Obj.Status.Failure
	if failure == nil { // what was seen a moment ago is about to be saved
		return fsm.Wait(ReasonRollingBack, "lanes").In(time.Second).Because("why it failed to be noted")
	}
	back := true
	for _, s := range slices.Backward(in.Obj.Status.Shards) {
		if s.WantTemplate == "" {
			continue
		}
		if s.NoWayBack && isSettled(in, s) {
			return endRollback(in, s)
		}
		back = back && s.Phase == ShardCompleted && isBack(in.World, s)
	}
	if back {
		return fsm.Fire(AllBack, failure.Reason).
			Because("%s; every shard that was changed has again what it had before", failure.Message)
	}
	return fsm.Wait(ReasonRollingBack, "valkey", "pods", "children").In(recheck).Because("every shard that was changed to go back")
}

// isBack says that every pod of a shard has again what it had before.
func isBack(w World, s valkeyv1.ShardUpgrade) bool {
	set, _ := w.shard(int(s.Index))
	_, old := outdatedPod(w.Nodes.Shard(int(s.Index)))
	return w.looked() && !isForward(s.WantTemplate) && set.Template == s.WantTemplate && set.Settled && !old
}

// isSettled says that nothing more is done for a shard that cannot go back: what had gone back is
// forward again, or nothing is to go forward.
func isSettled(in input, s valkeyv1.ShardUpgrade) bool {
	return s.Phase == ShardCompleted || s.Phase == ShardHasFailed && !cannotGoBack(laneOf(in, s))
}

// endRollback is the last word on a shard that could not go back. Nothing is destroyed: it
// serves what it has.
func endRollback(in input, s valkeyv1.ShardUpgrade) fsm.Decision {
	if isForward(s.WantTemplate) {
		return fsm.Fire(NoWayBack, ReasonRollbackImpossible).Because("shard %d: a server of the former version could not copy what the new one has "+
			"written, so it stays on the new one; fix it forward by another upgrade, or restore a capture. It was given up because of: %s",
			s.Index, in.Obj.Status.Failure.Message)
	}
	return fsm.Fire(NoWayBack, ReasonRollbackFailed).Because("shard %d: did not come back on what it had before, either; look at its pods, and "+
		"put it right by another upgrade. It was given up because of: %s", s.Index, in.Obj.Status.Failure.Message)
}

// laneOf is a shard's lane outside of it.
func laneOf(in input, s valkeyv1.ShardUpgrade) shard {
	return shard{Input: in, Lane: strconv.Itoa(int(s.Index)), Place: s.Place}
}
