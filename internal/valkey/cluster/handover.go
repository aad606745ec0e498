package cluster

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const takingOver = "Waiting for %s to take over from %s, which is removed."

// handOver lets the primary of a shard that stays, whose own pod is to go, be followed
// by a replica that stays.
func handOver(in input) (fsm.Decision, bool) {
	w, wanted := in.World, Wanted(in.Obj)
	for i := range min(len(w.Shape), len(wanted)) {
		shard := w.Nodes.Shard(i)
		owner, owned := shard.Owner()
		if n, silent := shard.Silent(); silent && !owned {
			return fsm.Wait(ReasonPodsStarting, "pods", "valkey").In(recheck).
				Because("Waiting for %s to answer, which may own the slots of shard %d.", n.Name, i), true
		}
		if !owned {
			return fsm.Wait(ReasonSlotsLost, "valkey").In(recheck).Because("Shard %d owns no slots; see SlotsLost in the runbook.", i), true
		}
		if !leaves(in, owner) {
			continue
		}
		candidate, proof, doubt := failoverCandidate(in, shard)
		if doubt != "" {
			return fsm.Wait(ReasonNoCandidate, "valkey").In(recheck).
				Because("Waiting for shard %d to have a replica that stays and can take over: %s.", i, doubt), true
		}
		if left := untilNextFailover(in); left > 0 {
			return fsm.Wait(ReasonFailingOver, "valkey").In(left).Because(takingOver, candidate.Name, owner.Name), true
		}
		return fsm.Do(ReasonFailingOver, Failover{At: memberOf(candidate), From: memberOf(owner), Proof: proof}).
			Because(takingOver, candidate.Name, owner.Name), true
	}
	return fsm.Decision{}, false
}

// failoverWithin is how long a failover that was asked for may take: to ask again would
// begin it anew.
const failoverWithin = 5 * time.Second

// untilNextFailover is how long to wait before a replica is asked to take over.
func untilNextFailover(in input) time.Duration {
	last := in.Obj.Status.LastFailover
	if last == nil {
		return 0
	}
	_, spacing := in.World.Nodes.Spacing()
	return max(failoverWithin, spacing) - in.Now.Sub(last.Time)
}

// noteFailover remembers that a replica was asked to take over. That it could not be
// asked is a failure like any other, which the object backs off by.
func noteFailover(out *valkeyv1.ValkeyCluster, in input, outcomes []fsm.Outcome) {
	for _, o := range outcomes {
		if e, is := o.Effect.(Failover); is && o.Err == nil {
			out.Status.LastFailover = &metav1.Time{Time: in.Now.Truncate(time.Second)}
			out.Status.LastPromoted = e.At.Pod
		}
	}
}

// lag is how many bytes a replica may be behind when it is asked to take over: what a
// primary sends within moments.
const lag = 1 << 20

// failoverCandidate is the best of the replicas that stay, with the proof that it may take over, or
// what is in its way.
func failoverCandidate(in input, shard topology.Nodes) (candidate topology.Node, proof plan.FailoverProof, doubt string) {
	var copies []*topology.Server
	for _, n := range shard {
		if n.Server != nil && !leaves(in, n) {
			copies = append(copies, n.Server)
		}
	}
	best, found := topology.Best(copies)
	if !found {
		return candidate, nil, "there is none"
	}
	candidate, _ = shard.ByID(best.ID)
	proof, doubt = plan.ProveFailover(in.World.Nodes, best.ID, lag)
	return candidate, proof, doubt
}
