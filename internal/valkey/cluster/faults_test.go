package cluster

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// answering says that every server does: the faults planted here are others.
func answering(w World) bool {
	_, missing := w.missing()
	return !missing
}

func TestFaultIntroducesServersThatHoldData(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(InitializingCluster, func(in input) fsm.Decision {
		w := in.World
		if _, barred := refuseCreation(w); !barred && answering(w) && len(missingIntroductions(w.Nodes)) > 0 {
			return fsm.Do(ReasonMeeting, Meet{missingIntroductions(w.Nodes)}).Because("It is broken on purpose.")
		}
		return decideInitializingCluster(in)
	})
	fsmtest.Caught(t, b.ExploreIn(InitializingCluster), "joins servers that hold something")
}

func TestFaultMakesAClusterWhereOneWasFormed(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(AssigningSlots, func(in input) fsm.Decision {
		in.World.Formed = false
		return decideAssigningSlots(in)
	})
	fsmtest.Caught(t, b.ExploreIn(AssigningSlots), "makes a cluster where one was formed")
}

func TestFaultSlotsForTheFirstOfEachShard(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(AssigningSlots, func(in input) fsm.Decision {
		w := in.World
		var effects []fsm.Effect
		_, barred := refuseCreation(w)
		for i := range w.Shape {
			shard, share := w.Nodes.Shard(i), topology.Share(i, w.Shape.Masters())
			if _, owned := shard.Owner(); !owned && !barred && answering(w) && !anyClaimed(w.Nodes, share) {
				effects = append(effects, AddSlots{memberOf(shard[0]), share})
			}
		}
		if len(effects) > 0 {
			return fsm.Do(ReasonAssigning, effects...).Because("It is broken on purpose.")
		}
		return decideAssigningSlots(in)
	})
	fsmtest.Caught(t, b.ExploreIn(AssigningSlots), "puts at risk what a server holds")
}

func TestFaultReplicaByOrdinal(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(ConfiguringReplicas, func(in input) fsm.Decision {
		w := in.World
		if _, barred := refuseCreation(w); !barred && answering(w) && !w.Nodes[1].Server.Holds() {
			return fsm.Do(ReasonReplicating, Replicate{memberOf(w.Nodes[1]), memberOf(w.Nodes[0])}).Because("It is broken on purpose.")
		}
		return decideConfiguringReplicas(in)
	})
	fsmtest.Caught(t, b.ExploreIn(ConfiguringReplicas), "follows what is not the primary of its shard")
}

// Every server answers and every slot has an owner, and that is all.
func TestFaultRunningWithoutAgreement(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(VerifyingClusterHealth, func(in input) fsm.Decision {
		if count, _, _ := in.World.Nodes.Assigned(); answering(in.World) && count == topology.TotalSlots {
			return fsm.Fire(ClusterHealthy, ReasonClusterHealthy)
		}
		return decideVerifyingClusterHealth(in)
	})
	fsmtest.Caught(t, b.ExploreIn(VerifyingClusterHealth), "calls running what")
}

// A changed template is applied to a cluster in use: the next pod that is lost
// comes back by it.
func TestFaultTemplateAppliedInUse(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(Running, func(in input) fsm.Decision {
		if effects := in.World.apply(in.World.unapplied()); len(effects) > 0 && !in.Obj.Spec.Paused {
			return fsm.Do(ReasonApplying, effects...).Because("It is broken on purpose.")
		}
		return decideRunning(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Running), "changes what a formed cluster runs")
}

func TestFaultAdoptsAForeignObject(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(Pending, func(in input) fsm.Decision {
		if c, taken := in.World.foreign(); taken && in.World.Reservation.State == reserve.Ours && !in.World.Formed {
			return fsm.Do(ReasonApplying, ApplyChild{Child: c.Ref, UID: c.UID}).Because("It is broken on purpose.")
		}
		return decidePending(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Pending), "applies over somebody else's object")
}

func TestFaultNoHolds(t *testing.T) {
	t.Parallel()
	b, m := newBench(), Machine
	m.Holds = nil
	b.Machine = &m
	fsmtest.Caught(t, b.ExploreIn(InitializingCluster), "acts while paused")
	m.Holds = Machine.Holds[:1]
	fsmtest.Caught(t, b.ExploreIn(Pending), "acts under another's reservation")
}

// Pending makes what is not there, and never asks what is.
func TestFaultPhaseNotRederivable(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(Pending, func(in input) fsm.Decision {
		if in.World.Formed {
			return fsm.Wait(ReasonFormedBefore, "children").Because("It is broken on purpose.")
		}
		return decidePending(in)
	})
	fsmtest.Caught(t, b.Amnesia(), "amnesia in pass")
}

func TestFaultHastyOverData(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(ConfiguringReplicas, func(in input) fsm.Decision {
		if !answering(in.World) {
			return decideConfiguringReplicas(in)
		}
		if effects, _, stuck := attach(in.World); len(effects) > 0 || stuck {
			return decideConfiguringReplicas(in)
		}
		in.World = clone(in.World)
		for _, n := range in.World.Nodes {
			n.Server.Empty = true
		}
		return decideConfiguringReplicas(in)
	})
	fsmtest.Caught(t, b.ExploreIn(ConfiguringReplicas), "makes servers hasty that hold data")
}

// A pod that does not answer is as good as gone, somebody thought.
func TestFaultDeletesPodsThatRan(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(WaitingForPods, func(in input) fsm.Decision {
		for _, n := range in.World.Nodes {
			if _, barred := refuseCreation(in.World); !barred && n.UID != "" && n.Server == nil {
				return fsm.Do(ReasonPodsFailing, DeletePod{n.Name, n.UID, n.Version}).Because("It is broken on purpose.")
			}
		}
		return decideWaitingForPods(in)
	})
	fsmtest.Caught(t, b.ExploreIn(WaitingForPods), "deletes a pod in which something may be")
}
