package cluster

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// formingNodeTimeout is the node timeout for the moment in which a new cluster is to serve.
const formingNodeTimeout = 500 * time.Millisecond

// speedUpForming brings to an end what the servers would take seconds for: to tell each
// other who they are, and to believe that they are together.
func speedUpForming(in input) []fsm.Effect {
	w := in.World
	if again := repeatedIntroductions(w.Nodes); len(again) > 0 {
		return []fsm.Effect{Meet{again}}
	}
	if _, agree := w.Nodes.Agree(); !agree {
		return nil
	}
	if hesitant := primariesNotServing(in); len(hesitant) > 0 {
		return []fsm.Effect{SetNodeTimeout{hesitant, formingNodeTimeout}}
	}
	if _, well := w.formedWell(); well {
		return restoreTimeout(in)
	}
	return nil
}

// primariesNotServing are the primaries that agree with all others and do not serve yet. One
// that was alone for a while waits for as long as its node timeout, up to five
// seconds, lest it serve what is another's by now. Nothing is anybody's yet in a
// cluster without a key.
func primariesNotServing(in input) (members []Member) {
	w := in.World
	for _, n := range w.Nodes {
		if !n.Server.Empty || w.Formed {
			return nil
		}
		if !n.Server.OK && n.Server.Self().Follows == "" && n.Server.Timeout == int(nodeTimeout(in).Milliseconds()) {
			members = append(members, memberOf(n))
		}
	}
	return members
}

// restoreTimeout sets the node timeout that the spec asks for, where another is set.
func restoreTimeout(in input) []fsm.Effect {
	if other := membersWithOtherTimeout(in.World.Nodes, nodeTimeout(in)); len(other) > 0 {
		return []fsm.Effect{SetNodeTimeout{other, nodeTimeout(in)}}
	}
	return nil
}

// membersWithOtherTimeout lists the servers that are known to have another node timeout.
func membersWithOtherTimeout(nodes topology.Nodes, timeout time.Duration) (members []Member) {
	for _, n := range nodes {
		if n.Server != nil && n.Server.Timeout != 0 && n.Server.Timeout != int(timeout.Milliseconds()) {
			members = append(members, memberOf(n))
		}
	}
	return members
}

func nodeTimeout(in input) time.Duration {
	if s := in.Obj.Spec.NodeTimeoutSeconds; s > 0 {
		return time.Duration(s) * time.Second
	}
	return 5 * time.Second
}
