package upgrade

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	w = clone(w)
	for i := range w.Shards {
		s := &w.Shards[i]
		for j := range s.Nodes {
			n := &s.Nodes[j]
			switch e := e.(type) {
			case DeletePod: // a StatefulSet brings it back, under another UID
				if n.Name == e.Name && n.UID == e.UID {
					*n = Node{Name: n.Name, UID: n.UID + "'", Image: s.Template}
				}
			case Failover:
				if s.Name == e.Shard {
					n.Primary = n.Name == e.To
				}
			}
		}
	}
	if e, ok := e.(Reserve); ok && w.Holder == "" {
		w.Holder = e.Holder
	}
	return w
}

// Settle is what others do meanwhile: the cluster controller applies the images
// asked for, and replicas catch up.
func Settle(u *Upgrade, w World) World {
	w = clone(w)
	for i := range w.Shards {
		s := &w.Shards[i]
		for _, lane := range u.Status.Shards {
			if lane.Name == s.Name && lane.WantImage != "" && s.Template != lane.WantImage {
				s.Template, w.Touched = lane.WantImage, true
			}
		}
		for j := range s.Nodes {
			s.Nodes[j].Synced = true
		}
	}
	return w
}

func clone(w World) World {
	w.Shards = slices.Clone(w.Shards)
	for i := range w.Shards {
		w.Shards[i].Nodes = slices.Clone(w.Shards[i].Nodes)
	}
	return w
}
