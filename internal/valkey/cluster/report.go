package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/proof"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const podIndexLabel = "apps.kubernetes.io/pod-index"

// Numbers that move while the cluster is being made are not worth a write each:
// for so long they are only written together with a move.
const raiseEpochAfter = 10 * time.Second

func words(n int) string { return strconv.Itoa(n) }

// Wanted is the shape that the spec asks for.
func Wanted(c *valkeyv1.ValkeyCluster) Shape {
	replicas := 1
	if r := c.Spec.ReplicasPerMaster; r != nil {
		replicas = int(*r)
	}
	return Even(int(c.Spec.Masters), replicas)
}

// report copies what was seen into the status. What was not seen stays.
func report(out *valkeyv1.ValkeyCluster, in input, p fsm.Pass) {
	noteFailover(out, in, p.Outcomes)
	notePlan(out, in)
	out.Status.Proofs = proof.Record(out.Status.Proofs, in.Now, p.Outcomes)
	noteAccess(out, in.World)
	notePodFields(out, in)
	s, w := &out.Status, in.World
	s.Endpoint = fmt.Sprintf("%s.%s.svc:%d", out.Name, out.Namespace, valkeyv1.ClientPort)
	s.Selector = fmt.Sprintf("%s=%s,%s=0", valkeyv1.ClusterLabel, out.Name, podIndexLabel)
	s.CurrentOperation = ""
	if slices.Contains(making, s.Phase) || s.Phase == VerifyingClusterHealth && !w.Formed {
		s.CurrentOperation = valkeyv1.OperationCreating
	}
	if slices.Contains(scaling, s.Phase) {
		s.CurrentOperation = valkeyv1.OperationScaling
	}
	if w.Upgrade != nil {
		s.CurrentOperation = valkeyv1.OperationUpgrading
	}
	moved := s.Phase != in.Obj.Status.Phase
	if progressing(s.Phase) && !moved && in.Now.Sub(s.Since.Time) < raiseEpochAfter {
		return
	}
	if w.looked() {
		s.Masters = int32(shardsOf(w)) //nolint:gosec // at most 250
	}
	if len(w.Nodes) == 0 {
		return
	}
	s.ReadyNodes = fmt.Sprintf("%d/%d", count(w.Nodes, func(n topology.Node) bool { return n.Ready }), w.Shape.Nodes())
	s.Image = commonImage(w.Nodes)
	if _, silent := w.Nodes.Silent(); !silent { // half an answer would make numbers jump
		assigned, _, _ := w.Nodes.Assigned()
		s.AssignedSlots = fmt.Sprintf("%d/%d", assigned, topology.TotalSlots)
		s.Version = lowestVersion(w.Nodes)
		s.Shards = shards(w)
	}
}

// shardsOf is how many shards there are. One of a formed cluster that lost its
// StatefulSet is still one: if it were forgotten here, nobody would make it anew.
func shardsOf(w World) int {
	if w.Formed {
		return w.Shape.Masters()
	}
	n := 0
	for _, c := range w.Children {
		if c.Kind == KindStatefulSet && c.UID != "" && !c.Foreign {
			n++
		}
	}
	return n
}

func shards(w World) (list []valkeyv1.ShardStatus) {
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		s := valkeyv1.ShardStatus{Index: int32(i)} //nolint:gosec // at most 250
		if owner, owned := shard.Owner(); owned {
			s.ID, s.Primary = owner.Server.ShardID, owner.Name
			s.Slots = int32(owner.Server.Self().Slots.Count())                //nolint:gosec // at most 16384
			s.ReadyReplicas = int32(count(shard, func(n topology.Node) bool { //nolint:gosec // at most 5
				return n.Ready && n.Server.Synced && n.Server.Self().Follows == owner.Server.ID
			}))
		}
		list = append(list, s)
	}
	return list
}

func count(nodes topology.Nodes, is func(topology.Node) bool) (n int) {
	for _, node := range nodes {
		if is(node) {
			n++
		}
	}
	return n
}

// commonImage is the image that all pods run, or "" while they differ. Those that are missing
// have none.
func commonImage(nodes topology.Nodes) (image string) {
	for _, n := range nodes {
		if image != "" && n.Image != "" && n.Image != image {
			return ""
		}
		image = cmp.Or(n.Image, image)
	}
	return image
}

// lowestVersion is the lowest version among the servers.
func lowestVersion(nodes topology.Nodes) string {
	low := ""
	for _, n := range nodes {
		if v := n.Server.Version; low == "" || topology.Older(v, low) {
			low = v
		}
	}
	return low
}
