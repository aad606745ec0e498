package topology

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// Node is one place of a cluster: a pod, and what its server said.
type Node struct {
	Pod
	// Server is nil when nothing answered at the pod's address.
	Server *Server `json:"server,omitempty"`
	// Refused says that the pod's address refuses connections: no process listens there.
	Refused bool `json:"refused,omitempty"`
	// Stranger is who answers at the pod's address in its server's place: a dead node's pod keeps its address,
	// and another pod may have it by now.
	Stranger string `json:"stranger,omitempty"`
}

// MayRun says that it does not answer and is not known to have ended: a silent server may still run.
func (n Node) MayRun() bool {
	return n.Server == nil && (n.UID != "" || n.Stray) && !n.Ended && !n.NeverRan
}

// RefusesConnections says that nobody listens at a pod whose container is not known to have ended: it has, and its kubelet has
// not noticed, or it has begun, and its server has not.
func (n Node) RefusesConnections() bool { return n.MayRun() && n.Refused }

// Silence is how the server of a node that does not answer is silent.
func (n Node) Silence() string {
	if n.Stranger != "" {
		return "does not answer: at its address " + n.Addr + " answers " + n.Stranger
	}
	return "does not answer"
}

// Pod is what Kubernetes says of one pod, or of one that should exist.
type Pod struct {
	Name    string `json:"name"`
	UID     string `json:"uid,omitempty"` // "" is a pod that does not exist
	Shard   int    `json:"shard"`
	Ordinal int    `json:"ordinal"`
	Addr    string `json:"addr,omitempty"` // host:port of the server; "" until the pod has an IP
	Host    string `json:"host,omitempty"` // the Kubernetes node; "" until it is scheduled
	Image   string `json:"image,omitempty"`
	Ready   bool   `json:"ready,omitempty"` // as Kubernetes judges it
	// Stray says that a pod of this name exists that its StatefulSet does not control: somebody removed
	// its labels, and its server may run.
	Stray bool `json:"stray,omitempty"`
	// Outdated says that its StatefulSet would make it otherwise by now.
	Outdated bool `json:"outdated,omitempty"`
	// NeverRan says that its server has never run: there can be nothing in it.
	NeverRan bool `json:"neverRan,omitempty"`
	// Ended says that its server is known not to run: its container has ended.
	Ended bool `json:"ended,omitempty"`
	// EndedAt is when, in seconds since 1970; 0 is not known.
	EndedAt int64 `json:"endedAt,omitempty"`
	// DataMissing says that it ended because its server had lost its data, and was kept from starting.
	DataMissing bool `json:"dataMissing,omitempty"`
	// Leaving says that it is being deleted; until it is gone its server may still answer.
	Leaving bool `json:"leaving,omitempty"`
	// Version is the resourceVersion in which the pod was seen.
	Version string `json:"version,omitempty"`
	// Trouble is why a container does not run.
	Trouble podstate.Trouble `json:"trouble,omitzero"`
}

// CannotBeMade says that there is no such pod, and that the API server refuses one: a quota, say.
func (p Pod) CannotBeMade() bool { return p.UID == "" && p.Trouble.Reason == podstate.FailedCreate }

// ExitDataMissing is the exit code of a server that lost its data and was not started: no server that
// followed it is known to have it.
const ExitDataMissing = 76

// Server is what one server said, of itself and of all that it knows.
type Server struct {
	ID string `json:"id"`
	// Mark names the pod that it was started in, and its UID; "" is one that was started without.
	Mark    string `json:"mark,omitempty"`
	ShardID string `json:"shardID,omitempty"`
	Version string `json:"version,omitempty"`
	Empty   bool   `json:"empty,omitempty"`  // it holds no key
	Synced  bool   `json:"synced,omitempty"` // a replica's link to its primary is up; a primary is
	OK      bool   `json:"ok,omitempty"`     // cluster_state is ok: it serves its slots
	// Timeout is how long, in milliseconds, it lets another be out of reach before it
	// calls it failing; 0 is not read.
	Timeout int `json:"timeout,omitempty"`
	// Epoch is the highest that it has heard of: every failover raises it.
	Epoch int64 `json:"epoch,omitempty"`
	// History names the stream of changes that it is part of. Offsets of two servers
	// can be compared only if it is the same.
	History string `json:"history,omitempty"`
	// Loading says that it reads data in the background. One that reads in the
	// foreground answers nothing, not even what it is called.
	Loading bool `json:"loading,omitempty"`
	// CannotWrite says that it failed to write to its volume, and refuses what clients write.
	CannotWrite bool `json:"cannotWrite,omitempty"`
	// Syncing says that a replica is being sent all of its primary's data.
	Syncing bool `json:"syncing,omitempty"`
	// MemoryLimit is how many bytes its data may take; 0 is without limit.
	MemoryLimit int64      `json:"memoryLimit,omitempty"`
	Attached    []Attached `json:"attached,omitempty"` // who replicates from it, by address
	Open        []OpenSlot `json:"open,omitempty"`     // slots that are on their way, in order
	View        []Peer     `json:"view"`               // everyone that it knows, itself included, by ID
	Gauges      `json:"gauges,omitzero"`
}

// Peer is how one server sees a server: another one, or itself.
type Peer struct {
	ID    string `json:"id"`
	Addr  string `json:"addr,omitempty"`
	State State  `json:"state,omitempty"`
	// Linked says that the bus connection to it stands; of itself it always does.
	Linked bool `json:"linked,omitempty"`
	// Epoch is that of the shard's last failover or slot, as far as this one heard: of
	// two that claim a slot, the higher one is believed.
	Epoch int64 `json:"epoch,omitempty"`
	Claim
}

// Claim is what a server is in the cluster. Every server knows its own best.
type Claim struct {
	Follows string `json:"follows,omitempty"` // ID of the primary that it replicates; "" is a primary
	Slots   Slots  `json:"slots,omitempty"`
	// Shard is the smallest ID among those that are grouped with it: two views
	// divide the servers into the same shards exactly if all of these are equal.
	Shard string `json:"shard,omitempty"`
}

// State is how a server judges another; "" is nothing to complain about.
type State string

// The states of a peer.
const (
	Handshake State = "handshake" // met, and not yet known: its ID is made up
	Suspected State = "suspected" // out of reach for one
	Failed    State = "failed"    // out of reach for a majority
	Unlocated State = "unlocated" // known without an address
)

// Self is what the server says of itself.
func (s *Server) Self() Peer {
	p, _ := s.Peer(s.ID)
	return p
}

// Peer is how the server sees the one called id.
func (s *Server) Peer(id string) (Peer, bool) {
	i, found := slices.BinarySearchFunc(s.View, id, func(p Peer, id string) int {
		switch {
		case p.ID < id:
			return -1
		case p.ID > id:
			return 1
		}
		return 0
	})
	if !found {
		return Peer{}, false
	}
	return s.View[i], true
}

// Knows says that the server lists id as a member, past any handshake.
func (s *Server) Knows(id string) bool {
	p, listed := s.Peer(id)
	return listed && p.State != Handshake
}

// Holds says that something of worth may be in the server: keys, slots, or the
// role of a replica, whose keys are another's.
func (s *Server) Holds() bool {
	self := s.Self()
	return !s.Empty || self.Slots != "" || self.Follows != ""
}

// Blank says that the server has just been born: it holds nothing and knows nobody.
func (s *Server) Blank() bool { return !s.Holds() && len(s.View) == 1 }
