package upgrade

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// Bench upgrades two shards of three nodes.
func Bench() fsmtest.Bench[*Upgrade, World] {
	return fsmtest.Bench[*Upgrade, World]{
		Machine: &Machine,
		Object: func() *Upgrade {
			return &Upgrade{ObjectMeta: metav1.ObjectMeta{Name: "up", UID: "u1", Generation: 1}, Spec: Spec{Image: "9.1"}}
		},
		World:   func() World { return Cluster("8.1", 2, 3) },
		Perform: Perform,
		Settle:  Settle,
		Any:     anyUpgrade,
		Also:    []string{"Failed/StatusLost", "Completed/StatusLost"},
		End:     "Completed/AllCurrent",
		Safe:    safe,
	}
}

// Cluster is healthy, with a primary and replicas in every shard.
func Cluster(image string, shards, nodes int) World {
	w := World{Health: Healthy}
	for i := range shards {
		s := Shard{Name: strconv.Itoa(i), Template: image, Returnable: true}
		for j := range nodes {
			name := s.Name + string(rune('a'+j))
			s.Nodes = append(s.Nodes, Node{Name: name, UID: name, Image: image, Primary: j == 0, Synced: true, Lag: 10 - j})
		}
		w.Shards = append(w.Shards, s)
	}
	return w
}

// safe: no pod is taken away while another of its shard is missing or behind, no
// primary ever, and nothing is done under another's reservation.
func safe(in input, s fsm.Step[*Upgrade]) error {
	for _, e := range s.Decision.Do {
		if in.World.Holder != "" && in.World.Holder != string(in.Obj.UID) {
			return errors.New("acts under another's reservation")
		}
		if d, deletes := e.(DeletePod); deletes && in.World.lastCopy(d) {
			return errors.New("takes a copy away")
		}
	}
	return nil
}

// lastCopy says that without this pod its shard might have no copy that is in sync.
func (w World) lastCopy(d DeletePod) bool {
	for _, s := range w.Shards {
		_, behind := s.unsynced()
		for _, n := range s.Nodes {
			if n.Name == d.Name && (n.Primary || behind && n.Synced) {
				return true
			}
		}
	}
	return false
}

func anyUpgrade(r *rand.Rand, phase fsm.Phase) (*Upgrade, World) {
	u := Bench().Object()
	u.Spec.Supervised = r.IntN(4) == 0
	w := Cluster("8.1", 1+r.IntN(2), 1+r.IntN(3))
	w.Holder = pick(r, "u1", "u1", "u1", "", "other")
	w.Health = pick(r, Healthy, Healthy, "", "slots missing")
	w.Touched = r.IntN(2) == 0
	done := r.IntN(4) == 0
	for i := range w.Shards {
		anyShard(r, &w.Shards[i], done)
		if phase == InProgress || phase == RollingBack {
			at := u.shard(w.Shards[i].Name)
			at.Phase, at.FromImage = pick(r, slices.Sorted(maps.Keys(shardRules.Phases))...), pick(r, "8.1", "8.1", "")
			if done {
				at.Phase = pick(r, ShardCompleted, Skipped, UpgradingOldMaster, ShardPending)
			}
		}
	}
	if r.IntN(20) == 0 {
		w.Shards = nil
	}
	return u, w
}

func anyShard(r *rand.Rand, s *Shard, done bool) {
	s.Template, s.Returnable = pick(r, "8.1", "9.1"), r.IntN(2) == 0
	for i := range s.Nodes {
		s.Nodes[i].Image, s.Nodes[i].Synced = pick(r, "8.1", "9.1"), r.IntN(5) > 0
		if done {
			s.Nodes[i].Image, s.Nodes[i].Synced = "9.1", true
		}
	}
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }
