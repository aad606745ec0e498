package topology

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// shards is cluster with what a failover looks at.
func shards(n int) Nodes {
	nodes := cluster(n)
	for i := range nodes {
		s := nodes[i].Server
		s.History, s.ShardID, s.Timeout, s.Offset = s.Self().Shard, s.Self().Shard, 2000, 1000
		for j := range s.View {
			s.View[j].Epoch = int64(j/2 + 1)
		}
	}
	return nodes
}

func TestHandover(t *testing.T) {
	// Node 0 is the primary of shard 0, 1 its replica; 2 and 4 are the other voters.
	for name, c := range map[string]struct {
		change func(Nodes)
		doubt  string
	}{
		"all is well":                        {change: func(Nodes) {}},
		"a little behind":                    {change: func(n Nodes) { n[1].Server.Offset -= 10 }},
		"seen later than the primary":        {change: func(n Nodes) { n[1].Server.Offset += 500 }},
		"another replica is unknown":         {change: func(n Nodes) { n[4].Server.View[3].State = Handshake }},
		"a replica elsewhere sees otherwise": {change: func(n Nodes) { n[3].Server.View[1].Follows = "" }},
		"one voter of three is silent":       {change: func(n Nodes) { n[4].Server = nil }},
		"the candidate is silent":            {change: func(n Nodes) { n[1].Server = nil }, doubt: "does not answer"},
		"the primary is silent":              {change: func(n Nodes) { n[0].Server = nil }, doubt: "its primary does not answer"},
		"it is the primary":                  {change: func(n Nodes) { n[1].Server.View[1].Follows = "" }, doubt: "or it has none"},
		"far behind":                         {change: func(n Nodes) { n[1].Server.Offset -= 11 }, doubt: "web-0-1 is 11 bytes behind"},
		"the primary's offset is unknown":    {change: func(n Nodes) { n[0].Server.History, n[0].Server.Offset = "", 0 }, doubt: "not known to follow"},
		"another history":                    {change: func(n Nodes) { n[1].Server.History = "other" }, doubt: "not known to follow"},
		"neither history is known":           {change: func(n Nodes) { n[0].Server.History, n[1].Server.History = "", "" }, doubt: "not known to follow"},
		"the link is down":                   {change: func(n Nodes) { n[1].Server.Synced = false }, doubt: "no link to its primary"},
		"a full copy is under way":           {change: func(n Nodes) { n[1].Server.Syncing = true }, doubt: "is being sent all data"},
		"it reads data":                      {change: func(n Nodes) { n[1].Server.Loading = true }, doubt: "is reading"},
		"its primary reads data":             {change: func(n Nodes) { n[0].Server.Loading = true }, doubt: "is reading"},
		"another shard":                      {change: func(n Nodes) { n[1].Server.ShardID = "other" }, doubt: "names another shard"},
		"the primary gives a slot":           {change: func(n Nodes) { n[0].Server.Open = []OpenSlot{{Slot: 7, Peer: "x"}} }, doubt: "web-0-0 has slot 7 open"},
		"it knows of a slot on its way":      {change: func(n Nodes) { n[1].Server.Open = []OpenSlot{{Slot: 7, Peer: "x"}} }, doubt: "web-0-1 has slot 7 open"},
		"the primary owns nothing":           {change: func(n Nodes) { n[0].Server.View[0].Slots = "" }, doubt: "owns no slots"},
		"two voters of three are silent":     {change: func(n Nodes) { n[2].Server, n[4].Server = nil, nil }, doubt: "1 of 3 primaries with slots answer"},
		"unknown to a voter":                 {change: func(n Nodes) { n[2].Server.View = append(n[2].Server.View[:1], n[2].Server.View[2:]...) }, doubt: "web-1-0 does not know web-0-1"},
		"a handshake for a voter":            {change: func(n Nodes) { n[2].Server.View[1].State = Handshake }, doubt: "web-1-0 does not know web-0-1"},
		"suspected by a voter":               {change: func(n Nodes) { n[2].Server.View[1].State = Suspected }, doubt: "web-1-0 calls web-0-1 or its primary suspected"},
		"the primary is suspected":           {change: func(n Nodes) { n[4].Server.View[0].State = Suspected }, doubt: "web-2-0 calls"},
		"not linked to a voter":              {change: func(n Nodes) { n[2].Server.View[1].Linked = false }, doubt: "web-1-0 has no link to web-0-1"},
		"unknown to its primary":             {change: func(n Nodes) { n[0].Server.View[1].Follows = "" }, doubt: "web-0-0 does not see web-0-1 as a replica"},
		"a replica of another for a voter":   {change: func(n Nodes) { n[4].Server.View[1].Follows = n[2].Server.ID }, doubt: "web-2-0 does not see"},
		"a voter heard of other slots":       {change: func(n Nodes) { n[2].Server.View[0].Slots = "1" }, doubt: "with other slots"},
		"a voter is in another epoch":        {change: func(n Nodes) { n[2].Server.View[0].Epoch = 9 }, doubt: "in another epoch"},
		"the candidate, in another epoch":    {change: func(n Nodes) { n[2].Server.View[1].Epoch = 9 }, doubt: "in another epoch"},
		"a voter knows an old epoch of both": {change: func(n Nodes) { n[2].Server.View[0].Epoch, n[2].Server.View[1].Epoch = 0, 0 }, doubt: "in another epoch"},
		"it knows an old epoch itself":       {change: func(n Nodes) { n[1].Server.View[0].Epoch = 0 }, doubt: "in another epoch"},
		"a voter groups them otherwise":      {change: func(n Nodes) { n[2].Server.View[1].Shard = "other" }, doubt: "in another shard"},
	} {
		t.Run(name, func(t *testing.T) {
			n := shards(3)
			to := n[1].Server.ID
			c.change(n)
			if doubt, ready := n.Handover(to, 10); ready != (c.doubt == "") || !strings.Contains(doubt, c.doubt) {
				t.Errorf("ready is %t: %q", ready, doubt)
			}
		})
	}
}

func TestBest(t *testing.T) {
	replica := func(id string, offset int64) *Server {
		return &Server{ID: id, Synced: true, Gauges: Gauges{Offset: offset}, View: []Peer{{ID: id, Claim: Claim{Follows: "p"}}}}
	}
	with := func(s *Server, change func(*Server)) *Server { change(s); return s }
	for name, c := range map[string]struct {
		of   []*Server
		want string
	}{
		"the one that has most":         {[]*Server{replica("a", 1), replica("b", 3), replica("c", 2)}, "b"},
		"the lowest ID of equals":       {[]*Server{replica("c", 3), replica("b", 3), replica("d", 3)}, "b"},
		"not one that is sent a copy":   {[]*Server{with(replica("a", 9), func(s *Server) { s.Syncing = true }), replica("b", 1)}, "b"},
		"not one that reads its data":   {[]*Server{with(replica("a", 9), func(s *Server) { s.Loading = true }), replica("b", 1)}, "b"},
		"not one that never had a link": {[]*Server{with(replica("a", 9), func(s *Server) { s.Synced, s.LinkDown = false, -1 }), replica("b", 1)}, "b"},
		"one whose link went down":      {[]*Server{with(replica("a", 9), func(s *Server) { s.Synced, s.LinkDown = false, 3 }), replica("b", 1)}, "a"},
		"not a primary":                 {[]*Server{with(replica("a", 9), func(s *Server) { s.View[0].Follows = "" }), replica("b", 1)}, "b"},
		"nobody of none":                {nil, ""},
		"nobody of the silent":          {[]*Server{nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := Best(c.of)
			if found != (c.want != "") || found && got.ID != c.want {
				t.Errorf("found %t: %+v", found, got)
			}
		})
	}
}

// Whoever asks, and in whatever order the answers came, the same one is chosen.
func TestBestIsOneForAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*Server
		for i, offset := range rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 5).Draw(t, "offsets") {
			id := string(rune('a' + i))
			list = append(list, &Server{ID: id, Synced: true, Gauges: Gauges{Offset: offset}, View: []Peer{{ID: id, Claim: Claim{Follows: "p"}}}})
		}
		one, _ := Best(list)
		other, _ := Best(rapid.Permutation(list).Draw(t, "order"))
		if one != other {
			t.Errorf("%s and %s", one.ID, other.ID)
		}
	})
}

func TestQuorum(t *testing.T) {
	for silent, want := range []bool{true, true, false, false, false} {
		n := shards(4)
		for i := range silent {
			n[2*i].Server = nil
		}
		if doubt, quorum := n.Quorum(); quorum != want || quorum != (doubt == "") {
			t.Errorf("%d of 4 silent: %t, %s", silent, quorum, doubt)
		}
	}
	if _, quorum := (Nodes{}).Quorum(); quorum {
		t.Error("nobody is a majority of nobody")
	}
}

func TestSpacing(t *testing.T) {
	n := shards(3)
	if after, failed := n.Spacing(); after != 0 || failed != 0 {
		t.Errorf("8.1 waits %s and %s", after, failed)
	}
	n[3].Server.Version = "8.0.1" // a replica does not vote
	if after, _ := n.Spacing(); after != 0 {
		t.Errorf("a replica of 8.0 makes all wait %s", after)
	}
	n[2].Server.Version = "8.0.1"
	if after, failed := n.Spacing(); after != 5*time.Second || failed != 8*time.Second {
		t.Errorf("8.0 waits %s and %s", after, failed)
	}
	n[2].Server.Timeout = 100
	if after, failed := n.Spacing(); failed < after {
		t.Errorf("after a failure it waits %s, otherwise %s", failed, after)
	}
}
