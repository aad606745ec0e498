package cluster

import (
	"fmt"
	"slices"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// World is what a cluster's controller may look at.
type World struct {
	// Shape is that of the cluster by its record: once it was formed, the StatefulSets that
	// exist, and before that the spec. Empty is not read.
	Shape Shape `json:"shape,omitempty"`
	// Children is everything that the cluster should own, by its record or by the spec, in
	// the order in which it is made; those that do not exist have no UID.
	Children []Child `json:"children,omitempty"`
	// Formed says that the cluster once held all slots.
	Formed      bool         `json:"formed,omitempty"`
	Reservation reserve.Fact `json:"reservation,omitzero"`
	// Migration is the work that moves slots, if this process knows of one.
	Migration Migration `json:"migration,omitempty"`
	// Template names the template of pods that the spec asks for.
	Template string `json:"template,omitempty"`
	// PodFields names what the spec asks of pods, whichever version of the operator builds them.
	PodFields string `json:"podFields,omitempty"`
	// Places are those of the restarts that the operator may make at a time.
	Places []RestartPlace `json:"places,omitempty"`
	// Upgrade has the cluster's reservation, nil if none does.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Own are the upgrades that the cluster made to follow its spec.
	Own []OwnUpgrade `json:"own,omitempty"`
	// Access is what is needed to log on to servers.
	Access Access `json:"access,omitzero"`
	// Settings are those that are changed while servers run.
	Settings Settings `json:"settings,omitzero"`
	// Claims are those of the cluster's volumes, also of servers that were removed.
	Claims []Claim `json:"claims,omitempty"`
	// Nodes is every place there should be, by shard and ordinal; those without a
	// pod have no UID.
	Nodes topology.Nodes `json:"nodes,omitempty"`
}

// Shape is the size of a cluster: how many replicas each of its shards has.
type Shape []int

// Even is a shape in which all shards are alike.
func Even(masters, replicas int) Shape { return slices.Repeat(Shape{replicas}, masters) }

// Masters is how many shards a cluster of this shape has.
func (s Shape) Masters() int { return len(s) }

// Nodes is how many servers a cluster of this shape has.
func (s Shape) Nodes() (n int) {
	for _, replicas := range s {
		n += 1 + replicas
	}
	return n
}

// Ref names a child.
type Ref struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (r Ref) String() string { return r.Kind + " " + r.Name }

// The kinds of children that differ in how they are treated.
const (
	KindConfigMap   = "ConfigMap"
	KindStatefulSet = "StatefulSet"
)

// Child is one object that the cluster should own.
type Child struct {
	Ref
	Shard   int    `json:"shard,omitempty"`   // of a StatefulSet, its shard
	UID     string `json:"uid,omitempty"`     // "" does not exist
	Version string `json:"version,omitempty"` // of a StatefulSet, the resourceVersion in which it was seen
	Foreign bool   `json:"foreign,omitempty"` // it exists, and somebody else controls it
	Current bool   `json:"current,omitempty"` // it was applied as it would be applied now
	Settled bool   `json:"settled,omitempty"` // its own controller has seen it as it is
	// Unlabelled says that it lost the label by which caches find it.
	Unlabelled bool `json:"unlabelled,omitempty"`
	// Of a StatefulSet: the template of its pods, and the image in it.
	Template string `json:"template,omitempty"`
	Image    string `json:"image,omitempty"`
	// SpecImage is the image of the spec when that template was written.
	SpecImage string `json:"specImage,omitempty"`
	// Edited tells which fields of ours a person changed since; they are to be what they were.
	Edited string `json:"edited,omitempty"`
	// Contested tells which of them another controller sets: a person must say whose they are.
	Contested string `json:"contested,omitempty"`
	// Remains is a pod of a StatefulSet that is no more, and whose place is to be taken.
	Remains string `json:"remains,omitempty"`
}

// touched says that a person changed what was applied.
func (c Child) touched() bool { return c.Edited != "" || c.Unlabelled }

// looked says that everything was read that a decision about children needs.
func (w World) looked() bool { return len(w.Children) > 0 && len(w.Shape) > 0 }

// foreign is a child whose name somebody else has.
func (w World) foreign() (Child, bool) {
	return w.child(func(c Child) bool { return c.Foreign })
}

// recorded says that a child belongs to the cluster as it is, not only as it is wanted.
func (w World) recorded(c Child) bool { return c.Kind != KindStatefulSet || c.Shard < len(w.Shape) }

// unapplied lists what does not exist, is not as the spec has it or was edited, and can be made so now.
func (w World) unapplied() []Child {
	return slices.DeleteFunc(slices.Clone(w.Children), func(c Child) bool {
		return c.Current && !c.touched() || c.Foreign || c.Remains != "" || !w.recorded(c)
	})
}

// unsettled is a child that its own controller has not seen yet.
func (w World) unsettled() (Child, bool) {
	return w.child(func(c Child) bool { return w.recorded(c) && (c.UID == "" || !c.Settled) })
}

func (w World) child(is func(Child) bool) (Child, bool) {
	if i := slices.IndexFunc(w.Children, is); i >= 0 {
		return w.Children[i], true
	}
	return Child{}, false
}

// missing is a place without a server that answers. Fewer places than the shape
// asks for means that they were not looked at.
func (w World) missing() (topology.Node, bool) {
	if n, silent := w.Nodes.Silent(); silent {
		return n, true
	}
	return topology.Node{}, len(w.Shape) == 0 || len(w.Nodes) != w.Shape.Nodes()
}

// dataLost says that the cluster once held data, and every server is a newborn.
func (w World) dataLost() bool {
	_, missing := w.missing()
	return w.Formed && !missing && w.Nodes.AllBlank()
}

// healthy says that nothing is left to wish for, or what is.
func (w World) healthy() (doubt string, healthy bool) {
	if n, missing := w.missing(); missing {
		return subject(n) + " " + n.Silence(), false
	}
	if n, unready := w.Nodes.Unready(); unready {
		return n.Name + " is not ready", false
	}
	return w.formedWell()
}

// formedWell says that the servers make up a whole cluster that serves.
func (w World) formedWell() (doubt string, well bool) {
	if doubt, agree := w.Nodes.Agree(); !agree {
		return doubt, false
	}
	switch count, rival, contested := w.Nodes.Assigned(); {
	case contested:
		return rival.Name + " and another server both claim the same slots", false
	case count < topology.TotalSlots:
		return "some slots have no owner", false
	}
	if n, alone := w.unattached(); alone {
		return n.Name + " does not follow the primary of its shard", false
	}
	for _, n := range w.Nodes {
		switch {
		case !n.Server.Synced:
			return n.Name + " is not in sync with its primary", false
		case !n.Server.OK:
			return n.Name + " does not serve yet", false
		}
	}
	return "", true
}

// unattached is a server that neither serves its shard nor follows who does. All
// may agree on that: servers that nobody made replicas are primaries of nothing.
func (w World) unattached() (topology.Node, bool) {
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		owner, owned := shard.Owner()
		for _, n := range shard {
			if !owned || n.Name != owner.Name && n.Server.Self().Follows != owner.Server.ID {
				return n, true
			}
		}
	}
	return topology.Node{}, false
}

// lacks says why a standing cluster has less than it should: a pod that is not
// ready or at which nobody listens, or a server that the others have given up. That
// one did not answer just now is not enough: a busy server is not a lost one.
func (w World) lacks() (why string, is bool) {
	if i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.Stray }); i >= 0 {
		return fmt.Sprintf("pod %s does not belong to its StatefulSet: give it back its labels %s and %s, or remove it if it is no server of the cluster",
			w.Nodes[i].Name, valkeyv1.ClusterLabel, valkeyv1.ShardLabel), true
	}
	if n, unready := w.Nodes.Unready(); unready {
		return n.Name + " is not ready", true
	}
	if i := slices.IndexFunc(w.Nodes, topology.Node.RefusesConnections); i >= 0 {
		return w.Nodes[i].Name + " refuses connections", true
	}
	if i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.Stranger != "" }); i >= 0 {
		return w.Nodes[i].Name + " " + w.Nodes[i].Silence(), true // whatever Kubernetes says of its pod
	}
	if why, is := w.unserved(); is && w.Formed {
		return why, true
	}
	for _, n := range w.Nodes {
		if n.Server == nil {
			continue
		}
		for _, p := range n.Server.View {
			if m, ours := w.Nodes.ByID(p.ID); p.State == topology.Failed {
				if !ours {
					m.Name = p.ID
				}
				return m.Name + " is unreachable for other servers", true
			}
		}
	}
	return "", false
}

// unserved says that a server has no part in the cluster, or, where everyone answers, that slots are not served.
func (w World) unserved() (why string, is bool) {
	if n, apart := detachedNode(w); apart {
		return n.Name + " has not joined the cluster", true
	}
	if _, missing := w.missing(); missing {
		return "", false
	}
	if count, _, _ := w.Nodes.Assigned(); count < topology.TotalSlots {
		return fmt.Sprintf("%d of %d slots have no owner", topology.TotalSlots-count, topology.TotalSlots), true
	}
	i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.Server.Self().Slots != "" && !n.Server.OK })
	if i < 0 {
		return "", false
	}
	return w.Nodes[i].Name + " does not serve its slots", true
}

func subject(n topology.Node) string {
	if n.Name == "" {
		return "a server"
	}
	return n.Name
}
