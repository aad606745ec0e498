package upgrade

import "slices"

// World is what an upgrade may look at.
type World struct {
	Holder  string  `json:"holder,omitempty"`  // UID of who holds the cluster's reservation; "" is nobody
	Health  string  `json:"health,omitempty"`  // "" not read, Healthy, or what is wrong
	Touched bool    `json:"touched,omitempty"` // a StatefulSet bears this upgrade's UID
	Shards  []Shard `json:"shards,omitempty"`
}

// Healthy is a cluster with all slots served and all nodes agreeing.
const Healthy = "Healthy"

// Shard is one StatefulSet and its nodes.
type Shard struct {
	Name       string `json:"name"`
	Template   string `json:"template"`             // the image a new pod would get
	Returnable bool   `json:"returnable,omitempty"` // the old version could still load the data
	Nodes      []Node `json:"nodes"`
}

// Node is one server process as last seen.
type Node struct {
	Name    string `json:"name"`
	UID     string `json:"uid,omitempty"`
	Image   string `json:"image"`
	Primary bool   `json:"primary,omitempty"`
	Synced  bool   `json:"synced,omitempty"` // ready, link up, listed by every voter; a primary is
	Lag     int    `json:"lag,omitempty"`
}

func (w World) shard(name string) (Shard, bool) {
	i := slices.IndexFunc(w.Shards, func(s Shard) bool { return s.Name == name })
	if i < 0 || len(w.Shards[i].Nodes) == 0 {
		return Shard{}, false // nothing seen is not success
	}
	return w.Shards[i], true
}

// current says that every node runs image.
func (s Shard) current(image string) bool {
	return !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Image != image })
}

// unsynced is a node that is missing or behind.
func (s Shard) unsynced() (Node, bool) { return s.find(func(n Node) bool { return !n.Synced }) }

// outdated is a replica that does not run image.
func (s Shard) outdated(image string) (Node, bool) {
	return s.find(func(n Node) bool { return !n.Primary && n.Image != image })
}

func (s Shard) primary() (Node, bool) { return s.find(func(n Node) bool { return n.Primary }) }

// best is the synced replica on image with the lowest lag.
func (s Shard) best(image string) (best Node, ok bool) {
	for _, n := range s.Nodes {
		if !n.Primary && n.Synced && n.Image == image && (!ok || n.Lag < best.Lag) {
			best, ok = n, true
		}
	}
	return best, ok
}

func (s Shard) find(is func(Node) bool) (Node, bool) {
	if i := slices.IndexFunc(s.Nodes, is); i >= 0 {
		return s.Nodes[i], true
	}
	return Node{}, false
}

// shardOf is what the World says of this lane's shard.
func shardOf(in shard) Shard {
	s, _ := in.World.shard(in.Lane)
	return s
}
