package cluster

import (
	"cmp"
	"slices"
	"strings"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Perform is what an effect should do to the World.
func Perform(w World, effect fsm.Effect) World {
	w = clone(w)
	performOnReservations(&w, effect)
	switch e := effect.(type) {
	case ApplyChild:
		applyChild(w, e)
		resize(&w, e)
	case RemoveShard:
		removeShard(&w, e)
	case MoveSlots:
		begin(&w, e)
	case MarkFormed:
		w.Formed = true
	case ForgetData:
		w.Formed = false
	case DeletePod:
		deletePod(w.Nodes, e)
	default:
		performOnClaims(&w, effect)
		performBeside(&w, effect)
		command(w.Nodes, effect)
	}
	return w
}

func applyChild(w World, e ApplyChild) {
	for i, c := range w.Children {
		if c.Ref != e.Child || c.Foreign {
			continue
		}
		w.Children[i].Unlabelled, w.Children[i].Edited = false, ""
		switch {
		case e.Keep && c.Kind != KindConfigMap:
			continue
		case e.Open || e.Template == Closed:
			w.Children[i].Template = e.Template
			continue
		case c.Current && (e.Template == "" || e.Template == c.Template):
			continue
		}
		w.Children[i] = makeChild(w, c, e.Template)
	}
}

func makeChild(w World, c Child, template string) Child {
	made := Child{Ref: c.Ref, Shard: c.Shard, UID: "uid of " + c.Name, Current: true, Settled: c.Kind != KindStatefulSet}
	if c.Kind == KindStatefulSet {
		made.Template = cmp.Or(template, w.Template)
	}
	return made
}

func deletePod(nodes topology.Nodes, e DeletePod) {
	for i, n := range nodes {
		if n.Name == e.Name && n.UID == e.UID {
			nodes[i] = topology.Node{Pod: topology.Pod{Name: n.Name, Shard: n.Shard, Ordinal: n.Ordinal}}
		}
	}
}

// Settle is what others do meanwhile, one after the other: the StatefulSet
// controller sees a StatefulSet, pods start, handshakes end, replicas catch up.
func Settle(c *valkeyv1.ValkeyCluster, w World) World {
	w = clone(w)
	wish(c, &w)
	if i := slices.IndexFunc(w.Children, func(c Child) bool { return c.UID != "" && !c.Settled }); i >= 0 {
		for ; i < len(w.Children); i++ {
			w.Children[i].Settled = w.Children[i].UID != ""
		}
		return w
	}
	if start(c, &w) || migrate(c, &w) || upgrade(&w) {
		return w
	}
	endHandshakes(w.Nodes)
	if w.Formed {
		gossip(w.Nodes)
	}
	catchUp(w)
	return w
}

func catchUp(w World) {
	for _, n := range w.Nodes {
		if n.Server != nil {
			n.Server.Synced = true
			n.Server.OK = n.Server.OK || anyServes(w.Nodes) && (w.Formed || n.Server.Self().Follows != "")
		}
	}
}

// start brings up the pods of every StatefulSet that exists.
func start(c *valkeyv1.ValkeyCluster, w *World) (started bool) {
	for i, n := range w.Nodes {
		owner := Ref{KindStatefulSet, n.Name[:strings.LastIndexByte(n.Name, '-')]}
		made, exists := w.child(func(c Child) bool { return c.Ref == owner && c.UID != "" && !c.Foreign })
		if exists && made.Settled && (n.Server == nil || !n.Ready) {
			w.Nodes[i] = startedNode(n.Pod, c.Spec.Image)
			started = true
		}
	}
	return started
}

// startedNode is a pod whose server has just started.
func startedNode(pod topology.Pod, image string) topology.Node {
	pod.UID, pod.Addr, pod.Ready, pod.Image, pod.Trouble = "uid of "+pod.Name, pod.Name+":6379", true, image, podstate.Trouble{}
	id := "id of " + pod.Name
	return topology.Node{Pod: pod, Server: &topology.Server{
		ID: id, ShardID: "shard of " + pod.Name, History: "history of " + pod.Name, Version: "8.1.1", Empty: true, Synced: true, Timeout: 5000,
		View: []topology.Peer{{ID: id, Addr: pod.Addr, Linked: true, Claim: topology.Claim{Shard: id}}},
	}}
}

func clone(w World) World {
	w.Children, w.Nodes, w.Shape, w.Claims = slices.Clone(w.Children), slices.Clone(w.Nodes), slices.Clone(w.Shape), slices.Clone(w.Claims)
	for i, n := range w.Nodes {
		if n.Server != nil {
			s := *n.Server
			s.View = slices.Clone(s.View)
			w.Nodes[i].Server = &s
		}
	}
	return w
}
