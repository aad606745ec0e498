package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cluster is healthy: shards of one primary and one replica that all see alike.
func cluster(shards int) Nodes {
	var view []Peer
	id := func(i int) string { return fmt.Sprintf("%040d", i) }
	for i := range 2 * shards {
		p := Peer{ID: id(i), Addr: addr(i), Linked: true, Claim: Claim{Shard: id(i - i%2)}}
		if i%2 == 0 {
			p.Slots = Share(i/2, shards)
		} else {
			p.Follows = id(i - 1)
		}
		view = append(view, p)
	}
	var nodes Nodes
	for i := range 2 * shards {
		nodes = append(nodes, Node{
			Pod:    Pod{Name: fmt.Sprintf("web-%d-%d", i/2, i%2), UID: id(i), Shard: i / 2, Ordinal: i % 2, Addr: addr(i), Ready: true},
			Server: &Server{ID: id(i), Version: "8.1.1", Synced: true, OK: true, View: slices.Clone(view)},
		})
	}
	return nodes
}

func addr(i int) string { return fmt.Sprintf("10.0.0.%d:6379", i) }

func TestAgree(t *testing.T) {
	for name, c := range map[string]struct {
		change func(Nodes) Nodes
		met    bool
		doubt  string
	}{
		"all see alike":             {change: func(n Nodes) Nodes { return n }, met: true},
		"nothing was seen":          {change: func(Nodes) Nodes { return nil }, doubt: "no node was seen"},
		"one is silent":             {change: func(n Nodes) Nodes { n[2].Server = nil; return n }, doubt: "web-1-0 does not answer"},
		"one is not known":          {change: func(n Nodes) Nodes { n[1].Server.View = n[1].Server.View[:5]; return n }, doubt: "web-0-1 does not know web-2-1 yet"},
		"one is a handshake":        {change: func(n Nodes) Nodes { n[1].Server.View[0].State = Handshake; return n }, doubt: "web-0-1 does not know web-0-0 yet"},
		"a link is down":            {change: func(n Nodes) Nodes { n[1].Server.View[0].Linked = false; return n }, doubt: "has no link to web-0-0"},
		"one is suspected":          {change: func(n Nodes) Nodes { n[1].Server.View[0].State = Suspected; return n }, met: true, doubt: "calls web-0-0 suspected"},
		"one is sought elsewhere":   {change: func(n Nodes) Nodes { n[1].Server.View[0].Addr = addr(9); return n }, met: true, doubt: "has another address for web-0-0"},
		"a role is not known yet":   {change: func(n Nodes) Nodes { n[0].Server.View[3].Follows = ""; return n }, met: true, doubt: "web-0-0 sees web-1-1 in another role"},
		"slots are not known yet":   {change: func(n Nodes) Nodes { n[5].Server.View[0].Slots = ""; return n }, met: true, doubt: "sees web-0-0 with other slots"},
		"a shard is seen otherwise": {change: func(n Nodes) Nodes { n[5].Server.View[1].Shard = n[1].Server.ID; return n }, met: true, doubt: "sees web-0-1 in another shard"},
		"a stranger is listed": {change: func(n Nodes) Nodes {
			n[3].Server.View = append(n[3].Server.View, Peer{ID: "f", Linked: true})
			return n
		}, doubt: "web-1-1 knows, or is about to meet, a server that is no pod of this cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			n := c.change(cluster(3))
			if _, met := n.Met(); met != c.met {
				t.Errorf("met is %t", met)
			}
			if doubt, agree := n.Agree(); agree != (c.doubt == "") || !strings.Contains(doubt, c.doubt) {
				t.Errorf("agree is %t: %s", agree, doubt)
			}
		})
	}
}

func TestDisagreements(t *testing.T) {
	n := cluster(3)
	if list := n.Disagreements(); len(list) > 0 {
		t.Errorf("%s disagrees on %s", list[0].By.Name, list[0].Of.Name)
	}
	n[0].Server.View[3].Follows = ""
	n[1].Server.View = n[1].Server.View[:5]
	n[2].Server.View[0].State = Failed // passes, or is true; to be introduced does not help
	var got []string
	for _, m := range n.Disagreements() {
		got = append(got, m.By.Name+" disagrees on "+m.Of.Name)
	}
	if diff := cmp.Diff([]string{"web-0-0 disagrees on web-1-1", "web-0-1 disagrees on web-2-1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWitnesses(t *testing.T) {
	n := cluster(3)
	if id, by, found := n.UnknownServer(); found {
		t.Errorf("%s is a stranger to %s", id, by.Name)
	}
	if n.AllBlank() || (Nodes{}).AllBlank() {
		t.Error("a cluster that holds slots, or none at all, is not blank")
	}
	if count, _, contested := n.Assigned(); count != TotalSlots || contested {
		t.Errorf("%d slots, contested %t", count, contested)
	}
	n[3].Server.View[3].Slots = "5 16383"
	if count, rival, contested := n.Assigned(); count != TotalSlots || !contested || rival.Name != "web-1-1" {
		t.Errorf("%d slots, contested %t by %s", count, contested, rival.Name)
	}
	n[4].Server.View = append(n[4].Server.View, Peer{ID: "e", State: Handshake}, Peer{ID: "f"})
	if id, by, found := n.UnknownServer(); id != "f" || by.Name != "web-2-0" || !found {
		t.Errorf("the stranger is %q, listed by %s", id, by.Name)
	}
	if o, _ := n.Shard(2).Owner(); o.Name != "web-2-0" {
		t.Errorf("shard 2 is owned by %q", o.Name)
	}
	if m, _ := n.ByID(n[1].Server.ID); m.Name != "web-0-1" {
		t.Errorf("found %q", m.Name)
	}
}

func TestBlank(t *testing.T) {
	blank := func() Server {
		return Server{ID: "a", Empty: true, Synced: true, View: []Peer{{ID: "a", Linked: true, Claim: Claim{Shard: "a"}}}}
	}
	for name, c := range map[string]struct {
		change       func(*Server)
		blank, holds bool
	}{
		"just born":   {func(*Server) {}, true, false},
		"has keys":    {func(s *Server) { s.Empty = false }, false, true},
		"has a slot":  {func(s *Server) { s.View[0].Slots = "7" }, false, true},
		"has a role":  {func(s *Server) { s.View[0].Follows = "b" }, false, true},
		"has a peer":  {func(s *Server) { s.View = append(s.View, Peer{ID: "b"}) }, false, false},
		"shakes hand": {func(s *Server) { s.View = append(s.View, Peer{ID: "b", State: Handshake}) }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := blank()
			c.change(&s)
			if s.Blank() != c.blank || s.Holds() != c.holds {
				t.Errorf("blank %t, holds %t", s.Blank(), s.Holds())
			}
		})
	}
}

func TestShare(t *testing.T) {
	for n := 1; n <= 250; n++ {
		next, least, most := 0, TotalSlots, 0
		for i := range n {
			s := Share(i, n)
			if r := s.Ranges(); len(r) != 1 || r[0][0] != next {
				t.Fatalf("share %d of %d is %s, not from %d on", i, n, s, next)
			}
			next += s.Count()
			least, most = min(least, s.Count()), max(most, s.Count())
		}
		if next != TotalSlots || most-least > 1 {
			t.Fatalf("%d shares of %d to %d cover %d slots", n, least, most, next)
		}
	}
}

func TestSlots(t *testing.T) {
	ranges := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
		from := rapid.IntRange(0, 40).Draw(t, "from")
		return fmt.Sprintf("%d-%d", from, from+rapid.IntRange(0, 5).Draw(t, "more"))
	}))
	set := func(s Slots) map[int]bool {
		m := map[int]bool{}
		for _, r := range s.Ranges() {
			for i := r[0]; i <= r[1]; i++ {
				m[i] = true
			}
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		a, err1 := ParseSlots(strings.Join(ranges.Draw(t, "a"), " "))
		b, err2 := ParseSlots(strings.Join(ranges.Draw(t, "b"), " "))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		sa, sb := set(a), set(b)
		if (a == b) != cmp.Equal(sa, sb) || a.Count() != len(sa) {
			t.Errorf("%q and %q are not written in one way", a, b)
		}
		overlap := false
		for i := range sa {
			overlap = overlap || sb[i]
		}
		if a.Overlaps(b) != overlap {
			t.Errorf("%q overlaps %q: %t", a, b, !overlap)
		}
		with, without := set(a.With(b)), set(a.Without(b))
		for i := range 60 {
			if with[i] != (sa[i] || sb[i]) || without[i] != (sa[i] && !sb[i]) {
				t.Errorf("slot %d of %q with %q, or without", i, a, b)
			}
		}
		for _, made := range []Slots{a.With(b), a.Without(b)} {
			if again, err := ParseSlots(string(made)); again != made || err != nil || len(made.List()) != made.Count() {
				t.Errorf("%q is not written in the one way: %v", made, err)
			}
		}
	})
}

func TestAssigned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n Nodes
		owners := map[int]int{}
		for i := range 3 {
			from := rapid.IntRange(0, 30).Draw(t, "from")
			to := from + rapid.IntRange(0, 9).Draw(t, "more")
			for slot := from; slot <= to; slot++ {
				owners[slot]++
			}
			id := fmt.Sprint(i)
			n = append(n, Node{Server: &Server{ID: id, View: []Peer{{ID: id, Claim: Claim{Slots: Range(from, to)}}}}})
		}
		twice := false
		for _, owned := range owners {
			twice = twice || owned > 1
		}
		if count, _, contested := n.Assigned(); count != len(owners) || contested != twice {
			t.Errorf("%d slots, contested %t; want %d, %t", count, contested, len(owners), twice)
		}
	})
}
