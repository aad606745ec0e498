package upgrade

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// World is what an upgrade may look at.
type World struct {
	Cluster     Cluster      `json:"cluster,omitzero"`
	Reservation reserve.Fact `json:"reservation,omitzero"`
	// Template names the pod template that the cluster's controller would apply now for
	// this upgrade: its hash. "" is not known.
	Template string `json:"template,omitempty"`
	// Shards is every shard that exists, by index.
	Shards []Shard `json:"shards,omitempty"`
	// Nodes is every place there should be, by shard and ordinal; those without a pod have
	// no UID.
	Nodes topology.Nodes `json:"nodes,omitempty"`
	// Captures are what spec.captureFirst asks for.
	Captures Captures `json:"captures,omitzero"`
}

// Cluster is the cluster by the name that the upgrade has.
type Cluster struct {
	Sight    presence.State `json:"sight,omitempty"`
	UID      string         `json:"uid,omitempty"`
	Phase    fsm.Phase      `json:"phase,omitempty"`
	Paused   bool           `json:"paused,omitempty"`
	Deleting bool           `json:"deleting,omitempty"`
	Formed   bool           `json:"formed,omitempty"` // it once held all slots
	// LastFailover is when the cluster's own controller last asked a replica to take over.
	LastFailover time.Time `json:"lastFailover,omitzero"`
}

// The phases in which a cluster follows the wishes of an upgrade.
const (
	ClusterRunning  fsm.Phase = "Running"
	ClusterDegraded fsm.Phase = "Degraded"
)

var standing = []fsm.Phase{ClusterRunning, ClusterDegraded}

// Shard is the StatefulSet of one shard.
type Shard struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	UID   string `json:"uid,omitempty"`
	// Template is the name of the pod template that it bears, Upgrade who asked for it.
	Template string `json:"template,omitempty"`
	Upgrade  Mark   `json:"upgrade,omitzero"`
	// Settled says that its own controller has seen it as it is, so that Revision is what
	// its template makes.
	Settled  bool   `json:"settled,omitempty"`
	Revision string `json:"revision,omitempty"`
	Replicas int    `json:"replicas"`
}

// Mark is the upgrade that last changed a shard.
type Mark struct {
	UID     string    `json:"uid,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

func (w World) shard(index int) (Shard, bool) {
	if i := slices.IndexFunc(w.Shards, func(s Shard) bool { return s.Index == index }); i >= 0 {
		return w.Shards[i], true
	}
	return Shard{}, false
}

// looked says that everything was read that a decision about shards needs.
func (w World) looked() bool {
	places := 0
	for _, s := range w.Shards {
		places += 1 + s.Replicas
	}
	return w.Cluster.Sight == presence.Here && w.Template != "" && places > 0 && places == len(w.Nodes)
}

// lag is how many bytes a replica may be behind to be called in sync: what a primary sends
// within moments.
const lag = 1 << 20

// healthy says that nothing is left to wish for, or what is.
func (w World) healthy() (doubt string, healthy bool) {
	if !w.looked() {
		return "the manager has not read every server yet", false
	}
	return w.nodesHealthy(w.Nodes)
}

// healthyApartFromBroken says the same of all but the pods that are broken and would be replaced first.
func (w World) healthyApartFromBroken() (doubt string, fit bool) {
	if !w.looked() {
		return "the manager has not read every server yet", false
	}
	return w.nodesHealthy(w.intact())
}

// finished says that every pod runs what its StatefulSet makes, and the cluster is whole.
func (w World) finished() (doubt string, finished bool) {
	if n, old := outdatedPod(w.Nodes); old {
		return n.Name + " does not run what is wanted", false
	}
	return w.healthy()
}

// intact are all nodes but the pods that are broken and would be replaced first.
func (w World) intact() topology.Nodes {
	return slices.DeleteFunc(slices.Clone(w.Nodes), w.replaceable)
}

// replaceable says that a pod is broken, may be deleted, and would come back by another
// template. One that cannot be made has nothing to delete.
func (w World) replaceable(n topology.Node) bool {
	if s, _ := w.shard(n.Shard); s.Template == w.Template {
		return false
	}
	if !isBroken(n) {
		return n.CannotBeMade()
	}
	_, doubt := proveBroken(w.Nodes, n)
	return doubt == ""
}

// nodesHealthy says that nothing is left to wish for of these nodes, or what is.
func (w World) nodesHealthy(nodes topology.Nodes) (doubt string, well bool) {
	if n, unready := nodes.Unready(); unready {
		return describe(n) + " is not ready", false
	}
	if doubt, agree := w.agree(nodes); !agree {
		return doubt, false
	}
	switch count, rival, contested := nodes.Assigned(); {
	case contested:
		return rival.Name + " and another server both claim the same slots", false
	case count < topology.TotalSlots:
		return "some slots have no owner", false
	}
	for _, s := range w.Shards {
		if n, doubt := nodeBehind(nodes.Shard(s.Index)); doubt != "" {
			return n.Name + " " + doubt, false
		}
	}
	return "", true
}

// agree says that all nodes see the same cluster. If they are not all there are, those that
// are missing may still be listed.
func (w World) agree(nodes topology.Nodes) (doubt string, agree bool) {
	if len(nodes) == len(w.Nodes) {
		return nodes.Agree()
	}
	for _, m := range nodes.Disagreements() {
		return fmt.Sprintf("%s does not see %s as it is", m.By.Name, m.Of.Name), false
	}
	return "", true
}

// nodeBehind is a node that does not have all of its shard, and what it lacks.
func nodeBehind(shard topology.Nodes) (topology.Node, string) {
	owner, owned := shard.Owner()
	for _, n := range shard {
		switch {
		case n.Server == nil:
			return n, n.Silence()
		case !owned:
			return n, "is without a primary that owns slots"
		case n.Name != owner.Name:
			if doubt := trails(n, owner); doubt != "" {
				return n, doubt
			}
		}
		if !n.Server.OK {
			return n, "does not serve"
		}
	}
	return topology.Node{}, ""
}

// trails is what a replica lacks, without a number: one that changes with every look would
// be written with every look.
func trails(replica, owner topology.Node) string {
	doubt := replica.Server.Trails(owner.Server, lag)
	if doubt != "" && replica.Server.Trails(owner.Server, math.MaxInt64) == "" {
		return "is far behind its primary"
	}
	return doubt
}

// told is what is wrong with a pod, in words.
func told(n topology.Node) string {
	if n.Trouble.Words == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(n.Trouble.Words, ".")
}

// describe names a pod and, if it is known, what is wrong with it.
func describe(n topology.Node) string {
	if n.Trouble.Is() {
		return n.Name + " (" + string(n.Trouble.Reason) + ")"
	}
	return n.Name
}
