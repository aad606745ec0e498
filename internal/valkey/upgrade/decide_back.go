package upgrade

import (
	"cmp"
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
		return fsm.Wait(ReasonRollingBack, "lanes").In(time.Second).Because("Waiting for the reason of the rollback to be saved.")
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
			Because("%s Every shard that was changed runs again what it ran before.", whyFailed(in))
	}
	return fsm.Wait(ReasonRollingBack, "valkey", "pods", "children").In(recheck).Because("Waiting for every shard that was changed to go back to what it ran before.")
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
		return fsm.Fire(NoWayBack, ReasonRollbackImpossible).Because("Shard %d: a server of the former version could not copy what the new one has "+
			"written, so it stays on the new one; fix it forward by another upgrade, or restore a capture. It was rolled back because: %s",
			s.Index, whyFailed(in))
	}
	return fsm.Fire(NoWayBack, ReasonRollbackFailed).Because("Shard %d did not come back on what it had before, either; look at its pods, and "+
		"repair it by another upgrade. It was rolled back because: %s", s.Index, whyFailed(in))
}

// whyFailed is the sentence that led to the rollback.
func whyFailed(in input) string {
	return cmp.Or(in.Obj.Status.Failure.Message, "A shard could not be upgraded.")
}

// laneOf is a shard's lane outside of it.
func laneOf(in input, s valkeyv1.ShardUpgrade) shard {
	return shard{Input: in, Lane: strconv.Itoa(int(s.Index)), Place: s.Place}
}
