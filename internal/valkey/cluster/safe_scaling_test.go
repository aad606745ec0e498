package cluster

import (
	"errors"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// safeScaling is what must hold of a command to a cluster that was formed.
func safeScaling(in input, effect fsm.Effect) error {
	w := in.World
	switch e := effect.(type) {
	case Meet:
		return safeWelcome(w, e)
	case Replicate:
		return errors.Join(safePrimary(w, e), blankAt(w, e.At))
	case MoveSlots:
		if count, _, contested := w.Nodes.Assigned(); count != topology.TotalSlots || contested || w.Migration == Moving {
			return errors.New("moves slots that have no owner, or twice at once")
		}
		return nil
	case Reset:
		return safeReset(in, e)
	case Forget:
		return safeForget(in, e)
	case Failover:
		return safeFailover(w, e)
	case RaiseEpoch:
		return safeEpoch(w, e)
	case AddSlots:
		if !replaces(in, e) {
			return errors.New("makes a cluster where one was formed")
		}
		return errors.Join(blankAt(w, e.At), unowned(w, e.Slots))
	case ForgetSlotOwner:
		if !replaces(in, e) {
			return errors.New("lets an owner of slots be forgotten whose data may be somewhere")
		}
		return nil
	case RemoveShard:
		c, _ := w.child(func(c Child) bool { return c.Ref == e.Child })
		if c.UID != e.UID || c.Version != e.Version || c.Foreign || c.Shard < len(Wanted(in.Obj)) {
			return errors.New("removes a shard that is wanted or not ours")
		}
		return safeToDrop(in, func(n topology.Node) bool { return n.Shard == c.Shard })
	}
	return errors.New("makes a cluster where one was formed")
}

// safeWelcome: only who holds nothing, or is known already, is introduced.
func safeWelcome(w World, e Meet) error {
	for _, i := range e.Introductions {
		of, _ := w.Nodes.ByID(i.Of.ID)
		if of.Server == nil || of.Addr != i.Of.Addr {
			return errors.New("introduces a server that is not where it was seen")
		}
		for _, to := range i.To {
			if of.Server.Holds() && !of.Server.Knows(to.ID) {
				return errors.New("joins servers that hold something")
			}
		}
	}
	return nil
}

// safePrimary: who follows, follows the owner of its shard's slots, or in a shard that
// has none a server that holds nothing either.
func safePrimary(w World, e Replicate) error {
	primary, _ := w.Nodes.ByID(e.Primary.ID)
	at, _ := w.Nodes.ByID(e.At.ID)
	if primary.Server == nil || primary.Shard != at.Shard || primary.Name == at.Name || primary.Server.Self().Follows != "" {
		return errors.New("follows what is not the primary of its shard")
	}
	if owner, owned := w.Nodes.Shard(at.Shard).Owner(); owned && owner.Name != primary.Name {
		return errors.New("follows what does not own the slots of its shard")
	}
	return nil
}

// safeEpoch: only a primary whose slots are nobody else's in anybody's eyes outranks all others.
func safeEpoch(w World, e RaiseEpoch) error {
	at, _ := w.Nodes.ByID(e.At.ID)
	if at.Server == nil || at.Server.Self().Follows != "" || w.Migration == Moving || openSlots(w) > 0 {
		return errors.New("raises the epoch of what is no primary, or while slots are on their way")
	}
	for _, by := range w.Nodes {
		for _, p := range viewOf(by) {
			if p.ID != at.Server.ID && p.Slots.Overlaps(at.Server.Self().Slots) {
				return errors.New("takes slots from who may have been elected")
			}
		}
	}
	return nil
}

// safeReset: nothing forgets the others but in a shard that lost its data.
func safeReset(in input, e Reset) error {
	if !replaces(in, e) {
		return errors.New("resets a server that is needed")
	}
	return nil
}

// safeForget: who answers is forgotten only if its pod is to go, and what it holds is another's.
func safeForget(in input, e Forget) error {
	for _, id := range e.IDs {
		n, answers := in.World.Nodes.ByID(id)
		if answers && !leaves(in, n) || ownsSlots(in.World, id) || e.Proof == nil || !e.Proof.Of(plan.Server(id)) {
			return errors.New("lets a server be forgotten that is needed")
		}
		if answers && onlyCopy(in, n) {
			return errors.New("lets what may be the only copy be forgotten")
		}
	}
	return nil
}

// onlyCopy says that a server holds keys, and nobody that answers is seen to have them.
func onlyCopy(in input, n topology.Node) bool {
	owner, owned := in.World.Nodes.Shard(n.Shard).Owner()
	count, _, _ := in.World.Nodes.Assigned()
	slotless := !owned && count == topology.TotalSlots // a shard that has no slots yet: others own all
	if dismisses(in, n) && !slotless && (!owned || leaves(in, owner)) {
		return true
	}
	_, followed := in.World.Nodes.ByID(n.Server.Self().Follows)
	return !n.Server.Empty && !followed
}

func safeFailover(w World, e Failover) error {
	n, _ := w.Nodes.ByID(e.At.ID)
	if e.Proof == nil || !e.Proof.Of(plan.Server(e.At.ID)) {
		return errors.New("lets a server take over without proof")
	}
	if e.Proof.Forced() {
		return safeForced(w, e)
	}
	if n.Server == nil || !n.Server.Synced || n.Server.Syncing || n.Server.Self().Follows != e.From.ID {
		return errors.New("lets a server take over that is not in sync")
	}
	for _, by := range w.Nodes {
		if p, _ := peerOf(by, e.At.ID); by.Server != nil && (p.Follows != e.From.ID || p.State != "") {
			return errors.New("lets a server take over that not all know as a replica")
		}
	}
	return nil
}

// safeForced: a primary is not asked only where none can be there.
func safeForced(w World, e Failover) error {
	candidate, _ := w.Nodes.ByID(e.At.ID)
	if _, answers := w.Nodes.ByID(e.From.ID); answers || candidate.Server == nil || !candidate.Server.Copies() || candidate.Server.Self().Follows != e.From.ID {
		return errors.New("forces a failover from a primary that answers, or to what is no copy of it")
	}
	for _, n := range w.Nodes.Shard(candidate.Shard) {
		if n.Server == nil && n.UID != "" && !n.Ended && !n.NeverRan && (!n.Refused || hasLink(w, e.From.ID)) {
			return errors.New("forces a failover from a primary that may run")
		}
		if n.Server != nil && n.Server.Self().Slots != "" {
			return errors.New("forces a failover in a shard that is served")
		}
	}
	return nil
}

// hasLink says that one who replicates from a server, or votes, has a connection to it.
func hasLink(w World, id string) bool {
	return slices.ContainsFunc(w.Nodes, func(by topology.Node) bool {
		p, _ := peerOf(by, id)
		return by.Server != nil && (by.Server.Self().Follows == id && by.Server.Synced || by.Server.Self().Slots != "" && p.Linked)
	})
}

// safeToDrop: pods go only when what runs in them has nothing of its own and nobody knows it.
func safeToDrop(in input, goes func(topology.Node) bool) error {
	w := in.World
	for _, n := range w.Nodes {
		if !goes(n) || n.Server == nil {
			continue
		}
		known := slices.ContainsFunc(w.Nodes, func(by topology.Node) bool {
			p, listed := peerOf(by, n.Server.ID)
			return listed && !leaves(in, by) && p.State != topology.Handshake
		})
		if known || ownsSlots(w, n.Server.ID) || !leaves(in, n) || onlyCopy(in, n) {
			return errors.New("removes a pod that is needed")
		}
	}
	return nil
}

func peerOf(by topology.Node, id string) (topology.Peer, bool) {
	if by.Server == nil {
		return topology.Peer{}, false
	}
	return by.Server.Peer(id)
}

// ownsSlots says that anybody sees slots, or a replica, at this server.
func ownsSlots(w World, id string) bool {
	for _, by := range w.Nodes {
		if p, _ := peerOf(by, id); p.Slots != "" {
			return true
		}
	}
	return false
}
