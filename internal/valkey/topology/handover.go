package topology

import "fmt"

// Handover says whether a shard can be handed over now to a replica of it, which may
// lag behind by so many bytes, so that no write is lost and none fails. If not, doubt
// says in words what is in the way.
//
// A failover that is asked for too early is answered with OK, and then nothing comes of
// it, or writes are paused until the time for it is over: the voters have not heard yet
// whom they vote for.
func (n Nodes) Handover(to string, lag int64) (doubt string, ready bool) {
	candidate, found := n.ByID(to)
	if !found {
		return to + " does not answer", false
	}
	primary, found := n.ByID(candidate.Server.Self().Follows)
	if !found {
		return candidate.Name + ": its primary does not answer, or it has none", false
	}
	if primary.Server.Self().Slots == "" {
		return primary.Name + " owns no slots", false
	}
	// NOTE: whoever becomes primary claims every slot that it saw its primary own, under a
	// new epoch. If one of them was given away a moment before, it is taken back, and
	// the new owner deletes what was written to it.
	for _, m := range []Node{primary, candidate} {
		if len(m.Server.Open) > 0 {
			return fmt.Sprintf("%s has slot %d open", m.Name, m.Server.Open[0].Slot), false
		}
	}
	if doubt = candidate.Server.Trails(primary.Server, lag); doubt != "" {
		return candidate.Name + " " + doubt, false
	}
	if doubt, quorum := n.Quorum(); !quorum {
		return doubt, false
	}
	for _, by := range append(n.Voters(), candidate) {
		if doubt = whyNotSuccessor(by, candidate, primary); doubt != "" {
			return doubt, false
		}
	}
	return "", true
}

// Trails is what a replica lacks, in words that follow its name, to have all of its
// primary but so many bytes; "" is nothing.
func (s *Server) Trails(primary *Server, lag int64) string {
	switch {
	case s.Self().Follows != primary.ID:
		return "does not follow the primary of its shard"
	case s.Loading || primary.Loading:
		return "or its primary is reading its data"
	case s.Syncing:
		return "is being sent all data of its primary"
	case !s.Synced:
		return "has no link to its primary"
	case primary.History == "" || s.History != primary.History:
		return "is not known to follow the changes of its primary"
	case primary.Offset-s.Offset > lag:
		return fmt.Sprintf("is %d bytes behind its primary", primary.Offset-s.Offset)
	case s.ShardID != primary.ShardID:
		return "names another shard than its primary"
	}
	return ""
}

// whyNotSuccessor is what keeps one server from seeing the replica as the successor of the primary.
func whyNotSuccessor(by, replica, primary Node) string {
	r, known := by.Server.Peer(replica.Server.ID)
	p, _ := by.Server.Peer(primary.Server.ID)
	own := primary.Server.Self()
	switch {
	case !known || r.State == Handshake:
		return by.Name + " does not know " + replica.Name
	case r.State != "" || p.State != "":
		return fmt.Sprintf("%s calls %s or its primary %s", by.Name, replica.Name, r.State+p.State)
	case !r.Linked:
		return by.Name + " has no link to " + replica.Name
	case r.Follows != own.ID:
		return by.Name + " does not see " + replica.Name + " as a replica of " + primary.Name
	case p.Slots != own.Slots:
		return by.Name + " sees " + primary.Name + " with other slots"
	case r.Epoch != own.Epoch || p.Epoch != own.Epoch:
		return by.Name + " sees " + primary.Name + " or " + replica.Name + " in another epoch"
	case r.Shard != p.Shard:
		return by.Name + " sees " + replica.Name + " in another shard than its primary"
	}
	return ""
}
