package guard

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/nodesconf"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// others are those among the seen that have something to say about this server:
// another cluster may have been given an address that was once a peer's.
func others(h Here, seen []Seen) []Seen {
	return slices.DeleteFunc(slices.Clone(seen), func(s Seen) bool {
		if h.Known == nil {
			return false
		}
		self := h.Known.Self.ID
		known := slices.ContainsFunc(h.Known.Peers, func(p nodesconf.Node) bool { return p.ID == s.ID })
		looks := slices.ContainsFunc(s.View, func(p topology.Peer) bool { return p.ID == self || p.Addr == h.Addr })
		return s.ID == self || !known && !looks
	})
}

// slotsTaken says that others own all slots that this server had, and with a better
// right: as soon as it hears of it, it will follow them.
func slotsTaken(h Here, seen []Seen) bool {
	if h.Known == nil || h.Known.Self.Slots == "" {
		return false
	}
	self := h.Known.Self
	left := self.Slots
	for _, s := range seen {
		for _, p := range s.View {
			if p.ID != self.ID && p.Epoch > self.Epoch {
				left = left.Without(p.Slots)
			}
		}
	}
	return left == ""
}

// successor is a server that owns the slots of this one by now, with no better right: as soon as
// they know each other, either of them gets a higher epoch, and the other one is
// emptied.
//
// NOTE: a server takes another epoch without a vote when two have the same, as in a cluster that
// was just made. If it ends before another server knows of that, its replica is elected for this one.
func successor(h Here, seen []Seen) (Seen, bool) {
	self := h.Known.Self
	for _, s := range seen {
		is := s.Self()
		was := slices.ContainsFunc(h.Known.Replicas(self.ID), func(r nodesconf.Node) bool { return r.ID == s.ID })
		// In the same epoch it was elected just now; in an older one it may be somebody from long ago.
		lost := h.Data == Nothing && s.holds() && is.Epoch == self.Epoch
		if is.Slots.Overlaps(self.Slots) && is.Epoch <= self.Epoch && (lost || was && believed(h, seen, s.ID)) {
			return s, true
		}
	}
	return Seen{}, false
}

// believed says that most of those who vote see another with slots of this server, which they
// do only of one that was elected after it.
func believed(h Here, seen []Seen, id string) bool {
	voters, believing := 1, 0
	for _, p := range h.Known.Peers {
		if p.Follows != "" || p.Slots == "" {
			continue
		}
		voters++
		if slices.ContainsFunc(seen, func(s Seen) bool {
			is, _ := s.Peer(id)
			return s.ID == p.ID && is.Slots.Overlaps(h.Known.Self.Slots)
		}) {
			believing++
		}
	}
	return 2*believing > voters
}

// absentFollower is a replica of this server that did not answer and was not forgotten.
func absentFollower(h Here, seen []Seen) (id string, missing bool) {
	self := h.Known.Self.ID
	var followers []string
	for _, r := range h.Known.Replicas(self) {
		followers = append(followers, r.ID)
	}
	for _, s := range seen {
		for _, p := range s.View {
			if p.Follows == self {
				followers = append(followers, p.ID)
			}
		}
	}
	slices.Sort(followers)
	for _, id := range slices.Compact(followers) {
		answers := slices.ContainsFunc(seen, func(s Seen) bool { return s.ID == id })
		if !answers && !forgotten(h, seen, id) {
			return id, true
		}
	}
	return "", false
}

// electable says that most of those who vote answer.
func electable(h Here, seen []Seen) bool {
	voters, answering := 1, 0 // this server is one, and is not heard
	for _, p := range h.Known.Peers {
		if p.Follows != "" || p.Slots == "" {
			continue
		}
		voters++
		if slices.ContainsFunc(seen, func(s Seen) bool { return s.ID == p.ID }) {
			answering++
		}
	}
	return 2*answering > voters
}

// forgotten says that most of those who vote answer, and that nobody who answers
// knows id any more: it was removed on purpose.
func forgotten(h Here, seen []Seen, id string) bool {
	known := slices.ContainsFunc(seen, func(s Seen) bool { return s.Knows(id) })
	return !known && electable(h, seen)
}
