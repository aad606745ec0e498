package upgrade

import (
	"fmt"
	"strconv"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// failoverCandidate is the replica that is to take over, or what is in the way: the best of those that
// run what is wanted. One that a person is asked to approve stays the one, as long as it can:
// which is the best changes with every write.
func failoverCandidate(in shard, s shardView) (candidate topology.Node, doubt string) {
	if n, named := s.named(s.Promoted); named && isSupervised(in) && s.follows(n) && isCurrent(n) {
		if _, doubt := plan.ProveFailover(in.World.Nodes, n.Server.ID, lag); doubt == "" {
			return n, ""
		}
	}
	var copies []*topology.Server
	for _, n := range s.nodes {
		if isCurrent(n) && s.follows(n) {
			copies = append(copies, n.Server)
		}
	}
	best, found := topology.Best(copies)
	if !found {
		return candidate, "none runs what is wanted"
	}
	candidate, _ = s.nodes.ByID(best.ID)
	_, doubt = plan.ProveFailover(in.World.Nodes, best.ID, lag)
	return candidate, doubt
}

// follows says that a node is a replica of the shard's owner.
func (s shardView) follows(n topology.Node) bool {
	return n.Server != nil && s.owned && n.Server.Self().Follows == s.owner.Server.ID
}

func isSupervised(in shard) bool { return in.Obj.Spec.Strategy == valkeyv1.Supervised }

// notApproved is the hold before a failover that a person has to approve. What was
// begun is not held: it was approved, and is proven again before it is done.
func notApproved(in shard) (string, bool) {
	if !isSupervised(in) || in.Place.Phase == FailingOver {
		return "", false
	}
	s := viewOf(in)
	candidate, doubt := failoverCandidate(in, s)
	if doubt != "" {
		return "Shard " + in.Lane + ": waiting for a replica that can take over: " + doubt + ".", true
	}
	token := tokenOf(in, s, candidate)
	words := fmt.Sprintf("Shard %s: waiting for a person to approve that %s takes over from %s, with `%s`.",
		in.Lane, candidate.Name, s.owner.Name, plan.Approve("vku", in.Obj.Namespace, in.Obj.Name, token))
	return words, in.Obj.Annotations[valkeyv1.ApproveAnnotation] != token
}

// tokenOf names one failover: who takes over from whom, and when. An approval of another
// one, or of what was before it, does not fit.
func tokenOf(in shard, s shardView, candidate topology.Node) string {
	primary := s.owner.Server.Self()
	return plan.Token(string(in.Obj.UID), in.Lane, candidate.UID, primary.ID, strconv.FormatInt(primary.Epoch, 10))
}
