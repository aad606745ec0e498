package cluster

import (
	"errors"
	"fmt"
	"slices"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// safe is what must hold of every step, whatever the World.
func safe(in input, s fsm.Step[*valkeyv1.ValkeyCluster]) error {
	for _, h := range s.Hops {
		if err := safeHop(in.World, h.To); err != nil {
			return err
		}
	}
	for _, e := range s.Decision.Do {
		if err := errors.Join(safeWriter(in, e), safeTimeout(in, e), safeCommand(in, e), safePlan(in, e), safeRestart(in, e)); err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
	}
	return nil
}

// safeHop: nothing is called Running but what serves every slot and agrees on it.
func safeHop(w World, to fsm.Phase) error {
	if to != Running {
		return nil
	}
	count, _, contested := w.Nodes.Assigned()
	_, agree := w.Nodes.Agree()
	_, unready := w.Nodes.Unready()
	hasty := slices.ContainsFunc(w.Nodes, func(n topology.Node) bool {
		return n.Server != nil && n.Server.Timeout == int(formingNodeTimeout.Milliseconds())
	})
	replicas := slices.DeleteFunc(slices.Clone(w.Nodes), func(n topology.Node) bool { return n.Server == nil || n.Server.Self().Follows == "" })
	if len(replicas) != w.Shape.Nodes()-w.Shape.Masters() {
		return errors.New("calls running what has no replicas")
	}
	if count != topology.TotalSlots || hasty || contested || !agree || unready || len(w.Nodes) != w.Shape.Nodes() {
		return errors.New("calls running what is not")
	}
	return nil
}

// safeWriter: nothing is done while paused or under another's reservation, and
// nobody else's object is written to.
func safeWriter(in input, e fsm.Effect) error {
	w := in.World
	if r, releases := e.(reserve.Release); releases && IsPlace(r.Target) {
		return nil // it is the others that wait for it
	}
	if in.Obj.Spec.Paused {
		return errors.New("acts while paused")
	}
	if in.Obj.DeletionTimestamp != nil {
		return errors.New("acts on what is being deleted")
	}
	if w.Reservation.State == reserve.Others && operates(in, e) && !replaces(in, e) {
		return errors.New("acts under another's reservation")
	}
	if u, deletes := e.(DeleteUpgrade); deletes && !slices.ContainsFunc(w.Own, func(own OwnUpgrade) bool {
		return own.UID == u.UID && (own.Ended || own.Name != ownName(in))
	}) {
		return errors.New("deletes an upgrade that is under way")
	}
	if _, forgets := e.(ForgetData); forgets && !w.dataLost() {
		return errors.New("forgets that there is data")
	}
	if d, deletes := e.(DeletePod); deletes {
		i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.Name == d.Name && n.UID == d.UID && n.UID != "" })
		neverRan := i >= 0 && !w.Formed && w.Nodes[i].NeverRan && w.Reservation.State == reserve.Ours
		lost := i >= 0 && w.Nodes[i].DataMissing && slices.Contains(lostShards(in), w.Nodes[i].Shard) && in.Obj.Spec.OnTotalLoss == valkeyv1.RecreateOnTotalLoss && !in.Obj.Spec.Persistence.Enabled
		repaired := i >= 0 && shardRests(w, w.Nodes[i].Shard) && w.Nodes[i].Outdated && (w.Reservation.State != reserve.Others || followsSpec(in))
		if !neverRan && !lost && !repaired && !approvedToReplace(in, d) || w.Nodes[i].Server != nil {
			return errors.New("deletes a pod in which something may be")
		}
	}
	if a, applies := e.(ApplyChild); applies {
		c, _ := w.child(func(c Child) bool { return c.Ref == a.Child })
		if c.Foreign || a.UID != c.UID {
			return errors.New("applies over somebody else's object")
		}
		if w.Formed && c.Kind == KindStatefulSet && c.UID != "" && !a.Keep && !unchanged(w, c, a) && !shardRests(w, c.Shard) && !approvedToReplace(in, a) {
			return errors.New("changes what a formed cluster runs")
		}
		if w.Formed && c.Kind == KindStatefulSet && c.UID != "" && a.Replicas < w.Shape[c.Shard] {
			return safeToDrop(in, func(n topology.Node) bool { return n.Shard == c.Shard && n.Ordinal > a.Replicas })
		}
	}
	return nil
}

// approvedToReplace says that a person approved that the pods of a silent shard are replaced, and that this is about it.
func approvedToReplace(in input, e fsm.Effect) bool {
	s, is := findSilentShard(in)
	if !is || in.Obj.Annotations[valkeyv1.ApproveAnnotation] != s.token {
		return false
	}
	switch e := e.(type) {
	case ApplyChild:
		return e.Child == s.child.Ref
	case DeletePod:
		return !s.edited && slices.ContainsFunc(s.pods, func(n topology.Node) bool { return n.UID == e.UID && n.Outdated })
	}
	return false
}

// followsSpec says that the upgrade that has the cluster is its own, and to the very spec.
func followsSpec(in input) bool {
	return in.World.Upgrade != nil && slices.ContainsFunc(in.World.Own, func(u OwnUpgrade) bool {
		return u.Name == in.World.Upgrade.Name && u.Name == ownName(in) && u.Phase == upgradeWorking
	})
}

// shardRests says that no server of a shard runs, or is about to.
func shardRests(w World, shard int) bool {
	return !slices.ContainsFunc(w.Nodes.Shard(shard), func(n topology.Node) bool {
		return n.Server != nil || n.Leaving || n.UID == "" || n.Trouble.MayRun || !n.Ended && !n.NeverRan
	})
}

// heals says that an effect may be part of healing, which needs no reservation.
func heals(e fsm.Effect) bool {
	switch e := e.(type) {
	case Meet, Replicate, RaiseEpoch:
		return true
	case Failover: // a shard without a primary waits for nobody
		return e.Proof.Forced()
	}
	return false
}

// replaces says that an effect is about a shard that lost its data, where the user wants to go
// on without.
func replaces(in input, e fsm.Effect) bool {
	w := in.World
	_, silent := w.Nodes.Silent()
	if silent || !w.Formed || in.Obj.Spec.OnTotalLoss != valkeyv1.RecreateOnTotalLoss {
		return false
	}
	switch e := e.(type) {
	case AddSlots:
		at, _ := w.Nodes.ByID(e.At.ID)
		_, holds := w.Nodes.Shard(at.Shard).Holding()
		return !holds
	case Reset:
		at, _ := w.Nodes.ByID(e.At.ID)
		s := at.Server
		_, owned := w.Nodes.Shard(at.Shard).Owner()
		return s != nil && s.Empty && !s.Syncing && s.Self().Slots == "" && !owned && !ownsSlots(w, s.ID)
	case ForgetSlotOwner:
		_, answers := w.Nodes.ByID(e.ID)
		followed := slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Server.Self().Follows == e.ID })
		return !answers && !followed && e.Proof != nil && e.Proof.Of(plan.Server(e.ID))
	}
	return false
}

// dismisses says that a node is a replica that an upgrade asks to go again.
func dismisses(in input, n topology.Node) bool {
	return in.World.Upgrade != nil && slices.Contains([]fsm.Phase{Running, Degraded}, in.Obj.Status.Phase) && in.World.Upgrade.asksToRemove(n)
}

// sendsAway says that somebody who answers is forgotten, and not by the wish of an upgrade.
func sendsAway(in input, e Forget) bool {
	return slices.ContainsFunc(e.IDs, func(id string) bool {
		n, answers := in.World.Nodes.ByID(id)
		return answers && !dismisses(in, n)
	})
}

func operates(in input, e fsm.Effect) bool {
	switch e := e.(type) {
	case Forget: // who is gone, or has to go by the wish of whoever has the reservation
		return sendsAway(in, e)
	case DeletePod: // of a shard that stopped, for which an upgrade to the same spec waits
		return !followsSpec(in) && !approvedToReplace(in, e)
	case ApplyChild, MarkFormed, SetNodeTimeout, MakeUpgrade, BeginRestart, DeleteUpgrade: // also what a standing cluster does for itself
		return false
	case reserve.Release:
		return !IsPlace(e.Target)
	}
	return !heals(e)
}

// safeTimeout: servers are made hasty only while there is nothing to lose.
func safeTimeout(in input, effect fsm.Effect) error {
	e, is := effect.(SetNodeTimeout)
	if !is || e.Timeout == nodeTimeout(in) {
		return nil
	}
	full := slices.ContainsFunc(in.World.Nodes, func(n topology.Node) bool { return n.Server == nil || !n.Server.Empty })
	if in.World.Formed || full || in.World.Reservation.State != reserve.Ours {
		return errors.New("makes servers hasty that hold data")
	}
	return nil
}

// safeCommand: servers that hold anything are left alone.
func safeCommand(in input, effect fsm.Effect) error {
	w := in.World
	_, commands := effect.(interface{ command() })
	if !commands {
		return nil
	}
	if w.Reservation.State != reserve.Ours && operates(in, effect) && !replaces(in, effect) {
		return errors.New("commands without the reservation")
	}
	if w.Formed {
		return safeScaling(in, effect)
	}
	if id, _, found := w.Nodes.UnknownServer(); found {
		return fmt.Errorf("commands servers that know the stranger %s", id)
	}
	switch e := effect.(type) {
	case Meet:
		return safeMeet(w, e)
	case AddSlots:
		return errors.Join(blankAt(w, e.At), unowned(w, e.Slots))
	case Replicate:
		primary, _ := w.Nodes.ByID(e.Primary.ID)
		at, _ := w.Nodes.ByID(e.At.ID)
		if primary.Server == nil || primary.Server.Self().Slots == "" || primary.Shard != at.Shard {
			return errors.New("follows what is not the primary of its shard")
		}
		return blankAt(w, e.At)
	}
	return nil
}

// safeMeet: who is not known yet is met only while nobody holds anything; who is
// known may be met again.
func safeMeet(w World, e Meet) error {
	_, holds := w.Nodes.Holding()
	for _, i := range e.Introductions {
		of, _ := w.Nodes.ByID(i.Of.ID)
		for _, to := range i.To {
			if other, _ := w.Nodes.ByID(to.ID); of.Server == nil || other.Server == nil || of.Addr != i.Of.Addr || other.Addr != to.Addr {
				return errors.New("introduces a server that is not where it was seen")
			}
			if other, _ := w.Nodes.ByID(to.ID); holds && (!of.Server.Knows(to.ID) || !other.Server.Knows(i.Of.ID)) {
				return errors.New("joins servers that hold something")
			}
		}
	}
	return nil
}

func blankAt(w World, m Member) error {
	n, _ := w.Nodes.ByID(m.ID)
	if n.Server == nil || n.Server.Holds() || n.Addr != m.Addr {
		return errors.New("puts at risk what a server holds")
	}
	return nil
}

func unowned(w World, slots topology.Slots) error {
	for _, n := range w.Nodes {
		for _, p := range n.Server.View {
			if p.Slots.Overlaps(slots) {
				return errors.New("gives slots away twice")
			}
		}
	}
	return nil
}

// unchanged says that a shard keeps its template, or gets the one that an upgrade asks for.
func unchanged(w World, c Child, a ApplyChild) bool {
	if a.Template == "" {
		return c.Current || hasTemplate(c, w.Template)
	}
	return w.Upgrade != nil && slices.ContainsFunc(w.Upgrade.Asks, func(ask Ask) bool { return ask.Shard == c.Shard && ask.Template == a.Template })
}
