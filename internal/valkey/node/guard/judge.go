package guard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Judge decides from what the server has and from what the others say.
func Judge(h Here, seen []Seen) Verdict {
	if v, doubled := findDouble(h, seen); doubled {
		return v
	}
	seen = others(h, seen)
	if v, theirs := intrudes(h, seen); theirs {
		return v
	}
	if h.Known == nil {
		return Verdict{Do: Start, Words: "it has no memory, and nobody looks for another server here"}
	}
	self := h.Known.Self
	switch {
	case self.Follows != "":
		return Verdict{Do: Start, Words: "it was a replica"}
	case self.Slots == "":
		return Verdict{Do: Start, Words: "it owned no slots"}
	}
	if s, rival := successor(h, seen); rival {
		return followSuccessor(h, seen, s)
	}
	if h.Data == Log {
		return Verdict{Do: Start, Words: "it has its data"}
	}
	return judgeLoss(h, seen)
}

// findDouble finds the very server that is about to start, alive at another address: what is here
// is a copy of its volume. Whoever hears of both would move the identity, and the slots with
// it, from one to the other, and clients would write to an old state.
func findDouble(h Here, seen []Seen) (Verdict, bool) {
	for _, s := range seen {
		if h.Known == nil || s.ID != h.Known.Self.ID || s.Addr == h.Addr {
			continue
		}
		v := Verdict{Do: Wait, Words: fmt.Sprintf("%s, which this server was, lives at %s: this volume is a copy of its", s.ID, s.Addr)}
		if h.Late {
			v.Do = Refuse
		}
		return v, true
	}
	return Verdict{}, false
}

// judgeLoss is for a primary that lost what it had, or the newest of it.
func judgeLoss(h Here, seen []Seen) Verdict {
	followers := followersOf(h, seen)
	holders := slices.DeleteFunc(slices.Clone(followers), func(s Seen) bool { return !s.holds() })
	moved := slotsTaken(h, seen)
	switch {
	case moved && len(followers) > 0:
		return endWait(h, awaitFollowers(followers))
	case moved:
		return Verdict{Do: Start, Words: "another server owns its slots by now"}
	case len(holders) > 0:
		return promoteHolder(h, seen, holders)
	}
	if id, missing := absentFollower(h, seen); missing {
		words := fmt.Sprintf("there is %s to load, and %s, which followed this server, does not answer and may hold the data", h.Data, id)
		return endWait(h, Verdict{Do: Wait, DataMissing: h.Data == Nothing, Words: words})
	}
	if h.Held && h.Data == Nothing {
		// To start would be to serve nothing in the place of what was lost, without a word: a person decides.
		return Verdict{Do: Refuse, DataMissing: true, Words: "it held keys when it last ran, there is nothing to load, and no replica holds them"}
	}
	return Verdict{Do: Start, Words: "no replica holds its data"}
}

// followSuccessor makes the server a replica of one that took over from it. Who still follows it would
// copy what it has.
func followSuccessor(h Here, seen []Seen, to Seen) Verdict {
	if followers := followersOf(h, seen); len(followers) > 0 && h.Late {
		return Verdict{Do: Refuse, Words: awaitFollowers(followers).Words}
	} else if len(followers) > 0 {
		return awaitFollowers(followers)
	}
	return Verdict{Do: Follow, Addr: to.Addr, ID: to.ID, Epoch: to.Self().Epoch, Words: to.ID + " owns its slots by now, in an epoch that is not above its own"}
}

func awaitFollowers(followers []Seen) Verdict {
	return Verdict{Do: Wait, Words: followers[0].ID + " has not heard yet that another server owns the slots"}
}

func followersOf(h Here, seen []Seen) []Seen {
	return slices.DeleteFunc(slices.Clone(seen), func(s Seen) bool { return s.Self().Follows != h.Known.Self.ID })
}

// promoteHolder lets a replica that holds the data become the primary: by a vote, or, where none can be held, without.
//
// Nobody but a replica of this server can have been elected in its place. If all of them answer and none was, and this
// server, which is the only other one with a right to the slots, has nothing to say, then the best of them is the primary
// in all but name. Without this two primaries that come back together, of three, would wait for each other's vote.
func promoteHolder(h Here, seen, holders []Seen) Verdict {
	b, copies := bestCandidate(holders)
	v := Verdict{Do: Ask, Addr: b.Addr, ID: b.ID, Words: fmt.Sprintf("there is %s to load, and %s at %s holds the data", h.Data, b.ID, b.Addr)}
	_, missing := absentFollower(h, seen)
	switch {
	case !copies && h.Data != Nothing:
		return endWait(h, v) // all were restarted, and nobody knows who has the newer copy
	case !missing && (h.Late || h.Settled && !electable(h, seen)):
		v.Do = Takeover
	case h.Late:
		return Verdict{Do: Refuse, Words: v.Words}
	}
	return v
}

// endWait ends a wait that has lasted too long. Who has nothing never starts over what
// others may hold; who has an older copy does not leave the shard without any.
func endWait(h Here, v Verdict) Verdict {
	switch {
	case !h.Late:
		return v
	case h.Data == Snapshot:
		return Verdict{Do: Start, Words: "nobody took over in time: " + v.Words}
	}
	return Verdict{Do: Refuse, DataMissing: v.DataMissing, Words: v.Words}
}

// intrudes finds a replica of another primary that would find this server where it
// looks for its own. It is not asked for anything: either its primary shows up
// elsewhere, with all its data, or the cluster soon finds another.
//
// NOTE: after a restart of everything with addresses exchanged, two primaries may
// stand in each other's way, and without them there is no majority to end it. So one
// that has data and slots starts in the end.
func intrudes(h Here, seen []Seen) (Verdict, bool) {
	for _, s := range seen {
		p, _ := s.Peer(s.Self().Follows)
		own := h.Known != nil && p.ID == h.Known.Self.ID
		if p.ID == "" || p.Addr != h.Addr || own || !s.holds() {
			continue
		}
		v := Verdict{Do: Wait, Words: fmt.Sprintf("%s looks for its primary %s at this address", s.ID, p.ID)}
		needed := h.Known != nil && h.Known.Self.Slots != "" && h.Data == Log
		switch {
		case h.Late && needed:
			v.Do = Start
		case h.Late:
			v.Do = Refuse
		}
		return v, true
	}
	return Verdict{}, false
}

// bestCandidate is whom the operator would choose as well: copies says that it has followed this
// server to the last. Where that is nobody, because all of them were restarted since and
// have what they found on disk, it is the one that has most by its own words.
func bestCandidate(holders []Seen) (best Seen, copies bool) {
	servers := make([]*topology.Server, 0, len(holders))
	for _, s := range holders {
		servers = append(servers, s.Server)
	}
	if b, found := topology.Best(servers); found {
		return holders[slices.IndexFunc(holders, func(s Seen) bool { return s.ID == b.ID })], true
	}
	return slices.MinFunc(holders, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(b.Offset, a.Offset), cmp.Compare(a.ID, b.ID))
	}), false
}
