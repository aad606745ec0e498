package upgrade

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// scenario is one way an upgrade may go.
type scenario struct {
	object  func(*valkeyv1.ValkeyUpgrade)
	world   func() World
	perform func(World, fsm.Effect) World
	ails    func(World) // what the new pods suffer from
	end     string
}

// bench is that of a scenario.
func (s scenario) bench() bench {
	b := pathBench()
	b.End = s.end
	if s.world != nil {
		b.World = s.world
	}
	if s.perform != nil {
		b.Perform = s.perform
	}
	if s.object != nil {
		b.Object = func() *valkeyv1.ValkeyUpgrade {
			u := newUpgrade()
			s.object(u)
			return u
		}
	}
	if s.ails != nil {
		b.Settle = func(u *valkeyv1.ValkeyUpgrade, w World) World {
			w = Settle(u, w)
			s.ails(w)
			return w
		}
	}
	return b
}

// of changes the nodes that came back by the upgrade.
func of(w World, change func(*topology.Node)) {
	for i := range w.Nodes {
		if w.Nodes[i].Image == "9.1.2" {
			change(&w.Nodes[i])
		}
	}
}

// unpulled is a pod whose image does not exist.
func unpulled(n *topology.Node) {
	n.Server, n.Ready, n.Addr, n.NeverRan, n.Trouble = nil, false, "", true, podstate.Trouble{Reason: podstate.ImagePullBackOff, Words: "Pod web-0-0 has no image."}
}

// crashing is one whose server ends again and again.
func crashing(n *topology.Node) {
	n.Server, n.Ready, n.Ended, n.Trouble = nil, false, true, podstate.Trouble{Reason: podstate.CrashLoopBackOff, Words: "it ends"}
}

// outOfSync is one that never gets all of its shard.
func outOfSync(n *topology.Node) {
	if n.Server.Self().Follows != "" {
		n.Server.Synced, n.Ready = false, false
	}
}

// second lets only pods of the second shard suffer.
func second(from func(*topology.Node)) func(*topology.Node) {
	return func(n *topology.Node) {
		if n.Shard == 1 {
			from(n)
		}
	}
}

// oneWay is a new version that the former one cannot copy from, and of which the second
// shard does not come up.
func oneWay(w World) {
	of(w, second(unpulled))
	for i := range w.Nodes {
		n := &w.Nodes[i]
		owner, owned := w.Nodes.Shard(n.Shard).Owner()
		if n.Image == "8.1.1" && owned && owner.Image == "9.1.2" && n.UID != "uid of "+n.Name {
			outOfSync(n)
		}
	}
}

// withoutVotes is a cluster whose servers do not vote.
func withoutVotes(w World, e fsm.Effect) World {
	if _, is := e.(Failover); is {
		return w
	}
	return Perform(w, e)
}

// alone and twoAlone are clusters without replicas, and uneven one in which one shard has none.
func alone() World    { return running("8.1.1", 1, 0) }
func twoAlone() World { return running("8.1.1", 2, 0) }

func uneven() World {
	w := running("8.1.1", 2, 1)
	w.Nodes, w.Shards[1].Replicas = w.Nodes[:3], 0
	for _, n := range w.Nodes {
		n.Server.View = slices.DeleteFunc(n.Server.View, func(p topology.Peer) bool { return p.ID == "id of web-1-1" })
	}
	return w
}

// leftBroken is a cluster that an upgrade was taken from in the middle: a replica of the second
// shard waits for an image that does not exist, and the others have forgotten its server.
func leftBroken() World {
	w := running("8.1.1", 2, 1)
	w.Cluster.Phase = ClusterDegraded
	w.Shards[1].Template, w.Shards[1].Revision = "9.1.0", "web-1-9.1.0"
	w.Nodes[3].Image, w.Nodes[2].Outdated = "9.1.0", true
	unpulled(&w.Nodes[3])
	for _, n := range w.Nodes[:3] {
		n.Server.View = slices.DeleteFunc(n.Server.View, func(p topology.Peer) bool { return p.ID == "id of web-1-1" })
	}
	return w
}

var scenarios = map[string]scenario{
	"a shard of three":                   {end: "Completed/AllCurrent", world: func() World { return running("8.1.1", 1, 2) }},
	"an image that does not exist":       {end: "RolledBack/PodNotReady", ails: func(w World) { of(w, unpulled) }},
	"a version that crashes":             {end: "RolledBack/PodNotReady", ails: func(w World) { of(w, crashing) }},
	"a version that does not copy":       {end: "RolledBack/SyncTimeout", ails: func(w World) { of(w, outOfSync) }},
	"the second shard fails":             {end: "RolledBack/PodNotReady", ails: func(w World) { of(w, second(unpulled)) }},
	"the former version cannot copy":     {end: "Failed/RollbackImpossible", ails: oneWay},
	"servers that do not vote":           {end: "RolledBack/FailoverFailed", perform: withoutVotes},
	"an older version":                   {end: "RolledBack/DowngradeRefused", world: func() World { return running("9.9.9", 2, 1) }},
	"an older version, which is allowed": {end: "Completed/AllCurrent", world: func() World { return running("9.9.9", 2, 1) }, object: func(u *valkeyv1.ValkeyUpgrade) { u.Spec.AllowDowngrade = true }},
	"every shard has it":                 {end: "Completed/AllCurrent", world: func() World { return running("9.1.2", 2, 1) }},
	"no replicas":                        {end: "Completed/AllCurrent", world: alone},
	"no replicas, and no such image":     {end: "RolledBack/PodNotReady", world: alone, ails: func(w World) { of(w, unpulled) }},
	"no replicas, and a crash":           {end: "RolledBack/PodNotReady", world: alone, ails: func(w World) { of(w, crashing) }},
	"no replicas, and no copy":           {end: "RolledBack/SyncTimeout", world: alone, ails: func(w World) { of(w, outOfSync) }},
	"no replicas, and the second fails":  {end: "RolledBack/PodNotReady", world: twoAlone, ails: func(w World) { of(w, second(unpulled)) }},
	"no replicas, and no way back":       {end: "Failed/RollbackImpossible", world: twoAlone, ails: oneWay},
	"no replicas, and no votes":          {end: "RolledBack/FailoverFailed", world: alone, perform: withoutVotes},
	"one shard has no replicas":          {end: "Completed/AllCurrent", world: uneven},
	"what another one left broken":       {end: "Completed/AllCurrent", world: leftBroken},
	"one shard first":                    {end: "Completed/AllCurrent", object: func(u *valkeyv1.ValkeyUpgrade) { u.Spec.CanaryShards, u.Spec.SoakSeconds = 1, 30 }},
}

// stage is where an upgrade stood in one pass of a run without faults.
type stage struct {
	obj   *valkeyv1.ValkeyUpgrade
	world World
}

// stages are all passes of all scenarios, by phase.
var stages = sync.OnceValue(func() map[fsm.Phase][]stage {
	all := map[fsm.Phase][]stage{}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		for _, at := range scenarios[name].run() {
			all[at.obj.Status.Phase] = append(all[at.obj.Status.Phase], at)
		}
	}
	return all
})

// run goes through a scenario without faults.
func (s scenario) run() (stages []stage) {
	b := s.bench()
	u, w, now := b.Object(), b.World(), time.Unix(1_700_000_000, 0)
	for range 400 {
		if at := (stage{u, w}); len(stages) == 0 || !reflect.DeepEqual(at, stages[len(stages)-1]) {
			stages = append(stages, at)
		}
		in := input{Obj: u, World: w, Now: now}
		step, err := Machine.Step(in)
		if err != nil {
			panic(err)
		}
		var outcomes []fsm.Outcome
		for _, e := range step.Decision.Do {
			w = b.Perform(w, e)
			outcomes = append(outcomes, fsm.Outcome{Effect: e})
		}
		next := Machine.Reduce(in, step, outcomes)
		u = next.Obj
		if next.Again == fsm.Never {
			break
		}
		if after := b.Settle(u, w); !step.Moved() && !reflect.DeepEqual(after, w) {
			w, next.Again = after, time.Second
		}
		now = now.Add(max(next.Again, time.Second/10))
	}
	return append(stages, stage{u, w})
}
