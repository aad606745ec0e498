package cluster

import (
	"slices"
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// reborn lets the servers of the first shard be newborn, and everyone have given their slots
// up, in a cluster that nobody has noted as formed.
func reborn(c *valkeyv1.ValkeyCluster, w *World) {
	unownedSlots(c, w)
	for _, n := range w.Nodes {
		giveUp(n.Server, "id of web-0-0")
	}
}

// unownedSlots is the same while the others still see the slots at the one that had them.
func unownedSlots(_ *valkeyv1.ValkeyCluster, w *World) {
	for i := range 2 {
		w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
	}
	w.Formed, w.Reservation.State = false, reserve.Ours
}

// Slots are given to newborn servers only, in a cluster that is being made, by who may.
func TestSlotsAreGivenOnce(t *testing.T) {
	tryCautions(t, AssigningSlots, map[string]caution{
		"a shard has none yet": {reborn, "add-slots web-0-0 0-5461", AssigningSlots},
		"its first pod is where another shard has its own": {func(c *valkeyv1.ValkeyCluster, w *World) {
			reborn(c, w)
			for i, host := range []string{"a", "b", "a", "c", "c", "a"} {
				w.Nodes[i].Host = host
			}
		}, "add-slots web-0-1 0-5461", AssigningSlots},
		"the cluster was formed": {func(c *valkeyv1.ValkeyCluster, w *World) {
			reborn(c, w)
			w.Formed = true
		}, "", AssigningSlots},
		"the reservation is not known": {func(c *valkeyv1.ValkeyCluster, w *World) {
			reborn(c, w)
			w.Reservation.State = ""
		}, "", AssigningSlots},
		"a server of another cluster is known": {func(c *valkeyv1.ValkeyCluster, w *World) {
			reborn(c, w)
			gone(w)
		}, "", AssigningSlots},
		"the others see them with somebody": {unownedSlots, "", AssigningSlots},
	})
}

// Replicas are made of servers that hold nothing, and nobody is hurried who holds something.
func TestReplicasAreMadeOfNothing(t *testing.T) {
	loose := func(c *valkeyv1.ValkeyCluster, w *World) {
		w.Formed, w.Reservation.State = false, reserve.Ours
		w.Nodes[1].Server.View[1].Follows = ""
	}
	hesitant := func(c *valkeyv1.ValkeyCluster, w *World) {
		w.Formed, w.Reservation.State = false, reserve.Ours
		for i := 0; i < len(w.Nodes); i += 2 {
			w.Nodes[i].Server.OK = false
		}
	}
	tryCautions(t, ConfiguringReplicas, map[string]caution{
		"one is to be a replica": {loose, "replicate web-0-1 from web-0-0", ConfiguringReplicas},
		"one that has keys":      {func(c *valkeyv1.ValkeyCluster, w *World) { loose(c, w); w.Nodes[1].Server.Empty = false }, "", ConfiguringReplicas},
		"primaries hesitate":     {hesitant, "set-node-timeout 500ms at 3 servers", ConfiguringReplicas},
		"primaries hesitate, and there are keys": {func(c *valkeyv1.ValkeyCluster, w *World) {
			hesitant(c, w)
			w.Nodes[1].Server.Empty = false
		}, "", ConfiguringReplicas},
	})
}

// A cluster that lost everything begins anew only if the user said so.
func TestTotalLossIsNotForgotten(t *testing.T) {
	lost := func(on valkeyv1.OnTotalLoss) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.OnTotalLoss = on
			for i := range w.Nodes {
				w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
			}
		}
	}
	tryCautions(t, Failed, map[string]caution{
		"it is not to be made anew": {lost(valkeyv1.FailOnTotalLoss), "", Failed},
		"it is":                     {lost(valkeyv1.RecreateOnTotalLoss), "forget-data", Failed},
	})
}

// Nothing is called healthy that is not whole, and what an upgrade left is left.
func TestWhatIsHealthyAndWhatIsLeft(t *testing.T) {
	tryCautions(t, Degraded, map[string]caution{
		"all is well": {func(*valkeyv1.ValkeyCluster, *World) {}, "", Running},
		"a slot has no owner": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			for _, n := range w.Nodes {
				n.Server.View[4].Slots = "10923-16382"
			}
		}, "", Degraded},
		"a server does not serve": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[4].Server.OK = false }, "", Degraded},
		"one sees another in another shard": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Nodes[4].Server.View[1].Shard = "another"
		}, "", Degraded},
	})
	drifted := func(w *World, current bool) {
		for i, c := range w.Children {
			if c.Kind == KindStatefulSet {
				w.Children[i].Template, w.Children[i].Current = "given by an upgrade", current
			}
		}
	}
	tryCautions(t, Running, map[string]caution{
		"shards run what a user's upgrade gave them": {func(_ *valkeyv1.ValkeyCluster, w *World) { drifted(w, true) }, "", Running},
		"and then the spec is edited":                {func(_ *valkeyv1.ValkeyCluster, w *World) { drifted(w, false) }, "make-upgrade web-template", Running},
	})
}

// After an upgrade by somebody else an edit keeps the image that runs, and says so before; an
// edit of the image itself is followed, and nothing is where shards run different ones.
func TestDriftIsNoEdit(t *testing.T) {
	const runs, says = "valkey:9.1", "valkey:8.1"
	for name, c := range map[string]struct {
		spec      string
		last      [2]string // image and that of the spec, of the last shard
		want      string
		told      bool
		unwilling bool
	}{
		"something else is edited":       {says, [2]string{runs, says}, runs, true, false},
		"the image is edited":            {"valkey:9.2", [2]string{runs, says}, "valkey:9.2", false, false},
		"the image is set to what runs":  {runs, [2]string{runs, says}, runs, false, false},
		"nobody knows what was asked":    {says, [2]string{runs, ""}, says, false, false},
		"shards run different ones":      {says, [2]string{says, says}, "", false, true},
		"all run what the spec asks for": {says, [2]string{says, says}, says, false, false},
	} {
		obj, w := newCluster(), clone(made()[len(made())-1].world)
		obj.Spec.Image, obj.Status.Phase, obj.Status.ObservedGeneration = c.spec, Running, 1
		for i, child := range w.Children {
			if child.Kind != KindStatefulSet {
				continue
			}
			w.Children[i].Current, w.Children[i].Template, w.Children[i].Image, w.Children[i].SpecImage = false, "given by an upgrade", c.last[0], c.last[1]
			if child.Shard < 2 && c.unwilling {
				w.Children[i].Image = runs
			}
		}
		in := input{Obj: obj, World: w, Now: present}
		effects, words := requestUpgrade(in)
		switch made := slices.IndexFunc(effects, func(e fsm.Effect) bool { _, is := e.(MakeUpgrade); return is }); {
		case c.unwilling != (made < 0):
			t.Errorf("%s: %v, %s", name, effects, words)
		case made >= 0 && effects[made].(MakeUpgrade).Image != c.want:
			t.Errorf("%s: %v", name, effects[made])
		case strings.Contains(drift(in), "set it to what runs") != c.told:
			t.Errorf("%s: told %q", name, drift(in))
		}
	}
}

// A shard that is added, or made anew, runs what all others do, whatever the spec says by now.
func TestANewShardRunsWhatOthersDo(t *testing.T) {
	w := clone(made()[len(made())-1].world)
	c := sized(newCluster(), Even(4, 1))
	c.Spec.Image = "valkey:9.1"
	wish(c, &w)
	for i, child := range w.Children {
		if child.UID != "" && child.Kind == KindStatefulSet {
			w.Children[i].Image = "valkey:8.1"
		}
	}
	effects := growStatefulSets(input{Obj: c, World: w})
	if len(effects) != 1 || effects[0].(ApplyChild).Image != "valkey:8.1" || effects[0].(ApplyChild).Shard != 3 {
		t.Errorf("%+v", effects)
	}
}

// Shards that run the same image were left by nobody, whatever their templates are called.
func TestAnUpgradeIsAbandonedByItsImages(t *testing.T) {
	w := clone(made()[len(made())-1].world)
	for i, c := range w.Children {
		if c.Kind == KindStatefulSet {
			w.Children[i].Image, w.Children[i].Template = "valkey:8.1", c.Name
		}
	}
	if words := whyAbandoned(w); words != "" {
		t.Errorf("the same image: %s", words)
	}
	w.Children[len(w.Children)-1].Image = "valkey:9.1"
	if words := whyAbandoned(w); words == "" {
		t.Error("another image, and not a word")
	}
	w.Upgrade = &Upgrade{Name: "up"}
	if words := whyAbandoned(w); words != "" {
		t.Errorf("under way: %s", words)
	}
}

// withUnknownServer is a server in the place of a lost one, which nobody has met.
func withUnknownServer(w *World, change func(*topology.Server)) {
	closeBudget(w)
	n := startedNode(w.Nodes[1].Pod, "valkey:8.1")
	n.Server.ID, n.Server.View[0].ID = "id of another", "id of another"
	change(n.Server)
	w.Nodes[1] = n
}

// What comes back is brought back where it was, and what comes instead only if it brings
// nothing with it.
func TestServersAreBroughtBack(t *testing.T) {
	tryCautions(t, Degraded, map[string]caution{
		"all have another address": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			for i := range w.Nodes {
				w.Nodes[i].Addr = w.Nodes[(i+1)%len(w.Nodes)].Name + ":7000"
			}
		}, "meet 24 pairs", ""},
		"one in the place of a lost one": {func(_ *valkeyv1.ValkeyCluster, w *World) { withUnknownServer(w, func(*topology.Server) {}) }, "meet 5 pairs", ""},
		"one that has keys": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			withUnknownServer(w, func(s *topology.Server) { s.Empty = false })
		}, "", ""},
		"one of another cluster": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			withUnknownServer(w, func(s *topology.Server) { s.View = append(s.View, topology.Peer{ID: "zz theirs"}) })
		}, "", ""},
	})
}

// elsewhere is a cluster that was, on its volumes, in new pods: everyone is looked for where it is not.
func elsewhere(_ *valkeyv1.ValkeyCluster, w *World) {
	w.Formed, w.Reservation.State = false, reserve.Ours
	for i := range w.Nodes {
		w.Nodes[i].Addr, w.Nodes[i].Server.Empty = w.Nodes[i].Name+":7000", false
		for j := range w.Nodes[i].Server.View {
			w.Nodes[i].Server.View[j].Linked = false
		}
	}
}

// A cluster that is made over the volumes of an earlier one is that one, if it has its shape;
// otherwise nothing is done to them, and nobody is told to delete them.
func TestMadeOverVolumes(t *testing.T) {
	tryCautions(t, InitializingCluster, map[string]caution{
		"all of them":      {elsewhere, "meet 24 pairs", InitializingCluster},
		"all found":        {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Formed, w.Reservation.State = false, reserve.Ours }, "", Running},
		"one is not there": {func(c *valkeyv1.ValkeyCluster, w *World) { elsewhere(c, w); gone(w) }, "", InitializingCluster},
		"one is new": {func(c *valkeyv1.ValkeyCluster, w *World) {
			w.Formed, w.Reservation.State = false, reserve.Ours
			withUnknownServer(w, func(*topology.Server) {})
			for _, n := range w.Nodes {
				n.Server.View = slices.DeleteFunc(n.Server.View, func(p topology.Peer) bool { return p.ID == "id of web-0-1" })
			}
		}, "", InitializingCluster},
	})
	tryCautions(t, ConfiguringReplicas, map[string]caution{"all of them": {elsewhere, "meet 24 pairs", ConfiguringReplicas}})
	for name, change := range map[string]func(*World){
		"one is not there": func(w *World) { gone(w) },
		"one is new":       func(w *World) { w.Nodes[0].Server.View = w.Nodes[0].Server.View[:1] },
	} {
		c, w := newCluster(), clone(made()[len(made())-1].world)
		elsewhere(c, &w)
		for i := range w.Nodes {
			w.Nodes[i].Addr = w.Nodes[i].Name + ":6379"
		}
		change(&w)
		if d := decideInitializingCluster(input{Obj: c, World: w, Now: present}); d.Reason != ReasonHoldsData || strings.Contains(d.Message, "delete") {
			t.Errorf("%s: %s: %s", name, d.Reason, d.Message)
		}
	}
}

// Who goes is no candidate for another that goes, however much it has; and who goes is not
// forgotten by those who need it.
func TestWhoStaysCounts(t *testing.T) {
	_, all := standingCluster(sized(newCluster(), Even(3, 2)))
	w := clone(all[len(all)-1].world)
	takeOver(w.Nodes, Failover{At: memberOf(w.Nodes[2]), From: memberOf(w.Nodes[0])})
	gossip(w.Nodes)
	w.Nodes[1].Server.Offset, w.Nodes[2].Server.Offset = 9, 9
	in := input{Obj: sized(newCluster(), Even(3, 0)), World: w, Now: present}
	in.Obj.Status.Phase = RemovingNodesFromCluster
	candidate, _, doubt := failoverCandidate(in, w.Nodes.Shard(0))
	if candidate.Name != "web-0-0" || doubt != "" {
		t.Errorf("%s, %q", candidate.Name, doubt)
	}
	tryCautions(t, RemovingNodesFromCluster, map[string]caution{
		"one has a slot open with one that goes": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.ReplicasPerMaster, w.Reservation.State = new(int32), reserve.Ours
			closeBudget(w)
			for i := 1; i < len(w.Nodes); i += 2 {
				reset(w.Nodes, Reset{memberOf(w.Nodes[i])})
			}
			w.Nodes[0].Server.Open = []topology.OpenSlot{{Slot: 7, Peer: "id of web-0-1"}}
		}, "", RemovingNodesFromCluster},
	})
}
