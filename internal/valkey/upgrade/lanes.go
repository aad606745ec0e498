package upgrade

import (
	"slices"
	"strconv"
	"strings"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

type (
	shard = fsm.LaneInput[*valkeyv1.ValkeyUpgrade, World]
	place = meta.Place
)

// lanes are the shards, in the order in which they may act: from the first on, and on the way
// back from the last that was changed.
func lanes(in input) (names []string) {
	if in.Obj.Status.Phase != RollingBack {
		for _, s := range in.World.Shards {
			names = append(names, strconv.Itoa(s.Index))
		}
		return names
	}
	if in.World.Cluster.Sight == "" { // nobody looked, so no shard has failed to go back
		return nil
	}
	for _, s := range slices.Backward(in.Obj.Status.Shards) {
		if s.WantTemplate != "" {
			names = append(names, strconv.Itoa(int(s.Index)))
		}
	}
	return names
}

// placeOf is where a shard's place is stored.
func placeOf(u *valkeyv1.ValkeyUpgrade, lane string) *place {
	index := indexOf(lane)
	i, found := position(u, index)
	if !found {
		u.Status.Shards = slices.Insert(u.Status.Shards, i, valkeyv1.ShardUpgrade{Index: int32(index)}) //nolint:gosec // at most 250
	}
	return &u.Status.Shards[i].Place
}

func indexOf(lane string) int {
	index, _ := strconv.Atoi(lane) // lanes made it
	return index
}

// shardView is one shard as its lane sees it.
type shardView struct {
	valkeyv1.ShardUpgrade
	set   Shard
	nodes topology.Nodes
	owner topology.Node
	owned bool
	want  string // the template that it is to have
	whole bool   // everything was looked at
}

func viewOf(in shard) shardView {
	s := shardView{ShardUpgrade: record(in.Obj, indexOf(in.Lane)), whole: in.World.looked()}
	s.set, _ = in.World.shard(int(s.Index))
	s.nodes = in.World.Nodes.Shard(int(s.Index))
	s.owner, s.owned = s.nodes.Owner()
	s.want = wanted(in.Input, s.ShardUpgrade, s.set)
	return s
}

// wanted is the template that a shard is to have. Once its StatefulSet bears one it is kept;
// until then it is what the cluster's controller can apply.
func wanted(in input, s valkeyv1.ShardUpgrade, set Shard) string {
	switch {
	case goesBack(in.Obj, s):
		return valkeyv1.RevisionPrefix + s.FromRevision
	case isForward(s.WantTemplate) && set.Template == s.WantTemplate:
		return s.WantTemplate
	}
	return in.World.Template
}

// goesBack says that a shard is to have again what it had before.
func goesBack(u *valkeyv1.ValkeyUpgrade, s valkeyv1.ShardUpgrade) bool {
	return u.Status.Phase == RollingBack && !s.NoWayBack
}

// isForward says that a template is a new one.
func isForward(template string) bool {
	return template != "" && !strings.HasPrefix(template, valkeyv1.RevisionPrefix)
}

// isApplied says that the StatefulSet bears what is wanted and is as wide, that the wish is
// saved, and that its controller has seen it: from then on a pod is what it seems.
func (s shardView) isApplied() bool {
	return s.whole && s.want != "" && s.want == s.WantTemplate && s.set.Template == s.want && s.set.Settled && s.isWideEnough()
}

// isCurrent says that a pod exists and is made by the template that its StatefulSet bears.
func isCurrent(n topology.Node) bool { return n.UID != "" && !n.Outdated }

// named is the node of a pod.
func (s shardView) named(pod string) (topology.Node, bool) {
	return s.find(func(n topology.Node) bool { return n.Name == pod && pod != "" })
}

func (s shardView) find(is func(topology.Node) bool) (topology.Node, bool) {
	if i := slices.IndexFunc(s.nodes, is); i >= 0 {
		return s.nodes[i], true
	}
	return topology.Node{}, false
}
