package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/proof"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// sound is three shards of a primary (even) and a replica (odd) that all see alike.
func sound() topology.Nodes {
	var view []topology.Peer
	for i := range 6 {
		p := topology.Peer{ID: id(i), Addr: addr(i), Linked: true, Epoch: int64(i/2 + 1), Claim: topology.Claim{Shard: id(i - i%2)}}
		if i%2 == 0 {
			p.Slots = topology.Share(i/2, 3)
		} else {
			p.Follows = id(i - 1)
		}
		view = append(view, p)
	}
	var nodes topology.Nodes
	for i := range 6 {
		nodes = append(nodes, topology.Node{
			Pod: topology.Pod{Name: fmt.Sprintf("web-%d-%d", i/2, i%2), UID: id(i), Shard: i / 2, Ordinal: i % 2, Addr: addr(i)},
			Server: &topology.Server{ID: id(i), ShardID: id(i - i%2), History: id(i - i%2), Version: "8.1.1", Synced: true, OK: true,
				Timeout: 2000, View: slices.Clone(view), Gauges: topology.Gauges{Offset: 1000, Keys: 5}},
		})
	}
	return nodes
}

func id(i int) string   { return fmt.Sprintf("%040d", i) }
func addr(i int) string { return fmt.Sprintf("10.0.0.%d:6379", i) }

// all changes how everybody sees one server, that server included.
func all(n topology.Nodes, of int, change func(*topology.Peer)) {
	for _, m := range n {
		if m.Server != nil {
			change(&m.Server.View[of])
		}
	}
}

// reset is a server that knows nobody.
func reset(n topology.Nodes, i int) {
	s := n[i].Server
	s.Empty, s.Synced = true, true
	s.View = []topology.Peer{{ID: s.ID, Addr: n[i].Addr, Linked: true, Claim: topology.Claim{Shard: s.ID}}}
}

// forget makes all others forget one.
func forget(n topology.Nodes, gone int) {
	for _, m := range n {
		if m.Server != nil && m.Server.ID != id(gone) {
			m.Server.View = slices.DeleteFunc(m.Server.View, func(p topology.Peer) bool { return p.ID == id(gone) })
		}
	}
}

type proofCase struct {
	change func(topology.Nodes)
	doubt  string // "" is a proof
}

// prove runs a table of worlds: each either has a proof of the subject, and of nothing
// else, or words.
func prove(t *testing.T, subject proof.Subject, cases map[string]proofCase, by func(topology.Nodes) (Proof, string)) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := sound()
			c.change(n)
			proven, doubt := by(n)
			if c.doubt != "" {
				if proven != nil || !strings.Contains(doubt, c.doubt) {
					t.Errorf("proof %v, doubt %q", proven, doubt)
				}
				return
			}
			if doubt != "" || proven == nil {
				t.Fatalf("doubt %q", doubt)
			}
			other, successor := subject, subject
			other.Name, successor.UID = subject.Name+"0", subject.UID+"0"
			if !proven.Of(subject) || proven.Of(proof.Subject{}) || proven.Of(other) || proven.Of(successor) || proven.String() == "" {
				t.Errorf("it is of something else: %s", proven)
			}
		})
	}
}

// plainly lets a proof that there is not be nil also where its type is not asked for.
func plainly[P Proof](proof P, doubt string) (Proof, string) {
	if doubt != "" {
		return nil, doubt
	}
	return proof, ""
}

func TestProveFailover(t *testing.T) {
	prove(t, Server(id(1)), map[string]proofCase{
		"all is well":     {change: func(topology.Nodes) {}},
		"it lags behind":  {change: func(n topology.Nodes) { n[1].Server.Offset = 0 }, doubt: "1000 bytes behind"},
		"a voter doubts":  {change: func(n topology.Nodes) { n[4].Server.View[1].State = topology.Suspected }, doubt: "web-2-0 calls"},
		"it is not there": {change: func(n topology.Nodes) { n[1].Server = nil }, doubt: "does not answer"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveFailover(n, id(1), 10)) })
	if p, _ := ProveFailover(sound(), id(1), 10); p.Forced() {
		t.Error("an agreed failover is not forced")
	}
}

func TestProveForcedFailover(t *testing.T) {
	died := func(n topology.Nodes) {
		n[0].Server, n[0].Ended = nil, true
		n[1].Server.Synced, n[1].Server.LinkDown = false, 3
	}
	second := func(n topology.Nodes, offset int64) { // node 3 is made another replica of shard 0
		n[3].Shard = 0
		n[3].Server.View[3].Follows, n[3].Server.Offset = id(0), offset
	}
	after := func(more func(n topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { died(n); more(n) }
	}
	prove(t, Server(id(1)), map[string]proofCase{
		"the primary has ended":         {change: died},
		"its pod is gone":               {change: after(func(n topology.Nodes) { n[0].Ended, n[0].UID = false, "" })},
		"the link is not seen down yet": {change: after(func(n topology.Nodes) { n[1].Server.Synced = true })},
		"its pod is gone, and it writes yet": {change: after(func(n topology.Nodes) { n[0].Ended, n[0].UID, n[1].Server.Synced = false, "", true }),
			doubt: "has a link to its primary"},
		"its pod lost its labels": {change: after(func(n topology.Nodes) { n[0].Ended, n[0].UID, n[0].Stray = false, "", true }),
			doubt: "web-0-0 is silent and may be the primary"},
		"another has less":                 {change: after(func(n topology.Nodes) { second(n, 999) })},
		"a pod of another shard is silent": {change: after(func(n topology.Nodes) { n[3].Server = nil })},
		"the primary lives":                {change: func(topology.Nodes) {}, doubt: "its primary web-0-0 answers"},
		"the primary is only silent":       {change: after(func(n topology.Nodes) { n[0].Ended = false }), doubt: "web-0-0 is silent and may be the primary"},
		"another has more":                 {change: after(func(n topology.Nodes) { second(n, 1001) }), doubt: "has more of its primary than web-0-1"},
		"it was being sent a copy":         {change: after(func(n topology.Nodes) { n[1].Server.Syncing = true }), doubt: "holds no copy"},
		"it lost its link before":          {change: after(func(n topology.Nodes) { n[1].Server.LinkDown = 8 }), doubt: "lost its link 8s ago"},
		"it is a primary":                  {change: after(func(n topology.Nodes) { n[1].Server.View[1].Follows = "" }), doubt: "web-0-1 is a primary"},
		"it is silent":                     {change: after(func(n topology.Nodes) { n[1].Server = nil }), doubt: "does not answer"},
		"there is no majority":             {change: after(func(n topology.Nodes) { n[2].Server = nil }), doubt: "no majority"},
		"the slots are another's already":  {change: after(func(n topology.Nodes) { n[2].Server.View[0].Slots = "" }), doubt: "web-1-0 does not see slots"},
		"a slot was given away at the end": {change: after(func(n topology.Nodes) { n[2].Server.View[0].Slots = "0-5460" }), doubt: "web-1-0 and web-0-1 see other slots"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveForcedFailover(n, id(1), 5*time.Second)) })
	n := sound()
	died(n)
	if p, _ := ProveForcedFailover(n, id(1), 5*time.Second); !p.Forced() {
		t.Error("it is not said to be forced")
	}
}

// Before its kubelet has noticed, a primary is known to have ended by all that had a connection to it.
func TestProveForcedFailoverFromOneThatRefuses(t *testing.T) {
	refuses := func(n topology.Nodes) {
		n[0].Server, n[0].Refused = nil, true
		n[1].Server.Synced = false
		for _, m := range n[1:] {
			m.Server.View[0].Linked = false
		}
	}
	after := func(more func(n topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { refuses(n); more(n) }
	}
	second := func(n topology.Nodes, synced bool) { // node 3 is made another replica of shard 0
		n[3].Shard = 0
		n[3].Server.View[3].Follows, n[3].Server.Offset, n[3].Server.Synced = id(0), 999, synced
	}
	prove(t, Server(id(1)), map[string]proofCase{
		"nobody has a connection":            {change: refuses},
		"nor has another replica":            {change: after(func(n topology.Nodes) { second(n, false) })},
		"another replica has one":            {change: after(func(n topology.Nodes) { second(n, true) }), doubt: "web-0-0 refuses connections, and web-1-1 has one"},
		"it has one itself":                  {change: after(func(n topology.Nodes) { n[1].Server.Synced = true }), doubt: "web-0-0 refuses connections, and web-0-1 has one"},
		"a voter has one":                    {change: after(func(n topology.Nodes) { n[4].Server.View[0].Linked = true }), doubt: "web-0-0 refuses connections, and web-2-0 has one"},
		"a replica of another shard has one": {change: after(func(n topology.Nodes) { n[5].Server.View[0].Linked = true })},
		"nobody is refused":                  {change: after(func(n topology.Nodes) { n[0].Refused = false }), doubt: "web-0-0 is silent and may be the primary"},
		"another of its shard is only silent": {change: after(func(n topology.Nodes) { n[3].Shard, n[3].Server = 0, nil }),
			doubt: "web-1-1 is silent and may be the primary"},
		"it lost its link before": {change: after(func(n topology.Nodes) { n[1].Server.LinkDown = 3 }), doubt: "lost its link 3s ago"},
		"there is no majority":    {change: after(func(n topology.Nodes) { n[2].Server = nil }), doubt: "no majority"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveForcedFailover(n, id(1), 0)) })
	n := sound()
	refuses(n)
	if p, _ := ProveForcedFailover(n, id(1), 0); !strings.Contains(Evidence(p), "refuses connections, and no server has one to it") {
		t.Error(Evidence(p))
	}
}

func TestProveForget(t *testing.T) {
	// Node 5 is a replica, and gone.
	gone := func(n topology.Nodes) { n[5].Server, n[5].UID = nil, "" }
	after := func(more func(n topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { gone(n); more(n) }
	}
	prove(t, Server(id(5)), map[string]proofCase{
		"its pod is gone":             {change: gone},
		"its pod has ended":           {change: after(func(n topology.Nodes) { n[5].UID, n[5].Ended = "x", true })},
		"its pod lost its labels":     {change: after(func(n topology.Nodes) { n[5].Stray = true }), doubt: "web-2-1 is silent and may be the one to forget"},
		"it runs":                     {change: func(topology.Nodes) {}, doubt: "web-2-1 answers to it"},
		"it runs and holds nothing":   {change: func(n topology.Nodes) { reset(n, 5) }, doubt: "web-2-1 answers to it"},
		"a pod is silent":             {change: after(func(n topology.Nodes) { n[3].Server = nil }), doubt: "web-1-1 is silent and may be"},
		"one sees slots of it":        {change: after(func(n topology.Nodes) { n[1].Server.View[5].Slots = "7" }), doubt: "web-0-1 sees " + id(5) + " with slots 7"},
		"one sees a replica of it":    {change: after(func(n topology.Nodes) { n[1].Server.View[3].Follows = id(5) }), doubt: "follow " + id(5)},
		"one has a slot open with it": {change: after(func(n topology.Nodes) { n[0].Server.Open = []topology.OpenSlot{{Slot: 9, Peer: id(5)}} }), doubt: "slot 9 open"},
		"there is no majority": {change: after(func(n topology.Nodes) {
			for _, i := range []int{0, 2} {
				n[i].Server, n[i].Ended = nil, true
			}
		}), doubt: "no majority"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveForget(n, id(5))) })
}

func TestProveSetSlotNode(t *testing.T) {
	// Node 0 gives slots 5 and 6 to node 2.
	open := func(n topology.Nodes) {
		n[0].Server.Open = []topology.OpenSlot{{Slot: 5, Peer: id(2)}, {Slot: 6, Peer: id(2)}}
		n[2].Server.Open = []topology.OpenSlot{{Slot: 5, Peer: id(0), Importing: true}, {Slot: 6, Peer: id(0), Importing: true}}
	}
	keys := map[int]int{5: 0, 6: 0}
	g := Given{Slots: "5-6", Source: id(0), Target: id(2)}
	after := func(more func(n topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { open(n); more(n) }
	}
	prove(t, Slots("5-6"), map[string]proofCase{
		"both ends are open and the source is empty": {change: open},
		"the target owns one already": {change: after(func(n topology.Nodes) {
			n[2].Server.Open = n[2].Server.Open[:1]
			n[2].Server.View[2].Slots = n[2].Server.View[2].Slots.With("6")
		})},
		"the source has given one up": {change: after(func(n topology.Nodes) {
			n[0].Server.Open = n[0].Server.Open[:1]
			n[0].Server.View[0].Slots = n[0].Server.View[0].Slots.Without("6")
		})},
		"the source does not send on":    {change: after(func(n topology.Nodes) { n[0].Server.Open = nil }), doubt: "web-0-0 owns slot 5 and does not send it on"},
		"the source sends it elsewhere":  {change: after(func(n topology.Nodes) { n[0].Server.Open[1].Peer = id(4) }), doubt: "owns slot 6 and does not send it on"},
		"the target does not take it":    {change: after(func(n topology.Nodes) { n[2].Server.Open = nil }), doubt: "web-1-0 does not take slot 5"},
		"the target takes another's":     {change: after(func(n topology.Nodes) { n[2].Server.Open[0].Peer = id(4) }), doubt: "does not take slot 5"},
		"the source is a replica":        {change: after(func(n topology.Nodes) { n[0].Server.View[0].Follows = id(1) }), doubt: "web-0-0 is a replica"},
		"the target is a replica":        {change: after(func(n topology.Nodes) { n[2].Server.View[2].Follows = id(3) }), doubt: "web-1-0 is a replica"},
		"the source is silent":           {change: after(func(n topology.Nodes) { n[0].Server = nil }), doubt: "does not answer"},
		"the target is silent":           {change: after(func(n topology.Nodes) { n[2].Server = nil }), doubt: "does not answer"},
		"one was not counted":            {change: after(func(topology.Nodes) { delete(keys, 6) }), doubt: "holds keys of slot 6"},
		"one holds a key":                {change: after(func(topology.Nodes) { keys[5] = 1 }), doubt: "holds keys of slot 5"},
		"no slot is named":               {change: after(func(topology.Nodes) { g.Slots = "" }), doubt: "nothing to give"},
		"it is given to whoever owns it": {change: after(func(topology.Nodes) { g.Target = id(0) }), doubt: "nothing to give"},
	}, func(n topology.Nodes) (Proof, string) {
		g.Keys = keys
		p, doubt := ProveSetSlotNode(n, g)
		keys, g = map[int]int{5: 0, 6: 0}, Given{Slots: "5-6", Source: id(0), Target: id(2)}
		if doubt == "" && p.Owner() != id(2) {
			t.Errorf("the owner is %s", p.Owner())
		}
		return plainly(p, doubt)
	})
}

func TestProveDeletePod(t *testing.T) {
	prove(t, Pod("web-0-1", id(1)), map[string]proofCase{
		"a replica":                             {change: func(topology.Nodes) {}},
		"it has never run":                      {change: func(n topology.Nodes) { n[1].Server, n[1].NeverRan, n[0].Server = nil, true, nil }},
		"it holds nothing":                      {change: func(n topology.Nodes) { reset(n, 1) }},
		"it is itself behind":                   {change: func(n topology.Nodes) { n[1].Server.Offset = 0 }},
		"it does not exist":                     {change: func(n topology.Nodes) { n[1].UID = "" }, doubt: "does not exist"},
		"it is silent":                          {change: func(n topology.Nodes) { n[1].Server = nil }, doubt: "what it is and has is not known"},
		"it says that it is a primary":          {change: func(n topology.Nodes) { n[1].Server.View[1].Follows = "" }, doubt: "is a primary and holds"},
		"a voter sees slots of it":              {change: func(n topology.Nodes) { n[4].Server.View[1].Slots = "7" }, doubt: "web-2-0 sees it with slots"},
		"one follows it":                        {change: func(n topology.Nodes) { n[5].Server.View[5].Follows = id(1) }, doubt: "web-2-1 follows it"},
		"the primary of its shard is silent":    {change: func(n topology.Nodes) { n[0].Server = nil }, doubt: "slots are served"},
		"slots of another shard are not served": {change: func(n topology.Nodes) { n[4].Server = nil }, doubt: "slots are served"},
		"slots are contested":                   {change: func(n topology.Nodes) { n[2].Server.View[2].Slots = topology.Share(1, 3).With("0") }, doubt: "claims slots"},
		"there is no majority":                  {change: func(n topology.Nodes) { n[2].Server, n[4].Server = nil, nil }, doubt: "no majority"},
		"another replica is behind": {change: func(n topology.Nodes) {
			n[3].Shard, n[3].Server.View[3].Follows, n[3].Server.ShardID, n[3].Server.History = 0, id(0), id(0), id(0)
			n[3].Server.Offset = 0
		}, doubt: "web-1-1 is 1000 bytes behind"},
		"another replica is silent": {change: func(n topology.Nodes) { n[3].Shard, n[3].Server = 0, nil }, doubt: "web-1-1 does not answer"},
		"nobody owns slots of its shard": {change: func(n topology.Nodes) {
			n[0].Server.View[0].Slots = ""
			n[2].Server.View[2].Slots = topology.Share(1, 3).With(topology.Share(0, 3))
		}, doubt: "no server owns the slots of shard 0"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveDeletePod(n, "web-0-1", 10)) })
	prove(t, Pod("web-0-0", id(0)), map[string]proofCase{
		"a primary": {change: func(topology.Nodes) {}, doubt: "web-0-0 is a primary and holds"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveDeletePod(n, "web-0-0", 10)) })
}

// vacate lets shard 0 have the slots of shard 2, whose keys went with them.
func vacate(n topology.Nodes) {
	all(n, 0, func(p *topology.Peer) { p.Slots = p.Slots.With(topology.Share(2, 3)) })
	all(n, 4, func(p *topology.Peer) { p.Slots = "" })
	n[4].Server.Empty, n[5].Server.Empty = true, true
}

// dismiss is the proof of one of those that go.
func dismiss(n topology.Nodes, leaving []string, id string) (Proof, string) {
	p, doubt := ProveForgetLeaving(n, leaving, 10)
	if doubt == "" && !p.Of(Server(id)) {
		return nil, "no server whose pod is to go"
	}
	return plainly(p, doubt)
}

// Those that stay may forget who runs and goes, once it has nothing that others do not have.
func TestProveForgetLeaving(t *testing.T) {
	replica, primary := id(5), id(4)
	leaving := []string{"web-2-0", "web-2-1"}
	after := func(more func(n topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { vacate(n); more(n) }
	}
	prove(t, Server(replica), map[string]proofCase{
		"its shard has no slots":                  {change: vacate},
		"it has keys of another":                  {change: after(func(n topology.Nodes) { n[5].Server.View[5].Follows, n[5].Server.Empty = id(0), false })},
		"it stays":                                {change: after(func(topology.Nodes) { leaving = []string{"web-1-1"} }), doubt: "no server whose pod is to go"},
		"its primary is gone, and it has nothing": {change: after(func(n topology.Nodes) { n[4].Server = nil })},
		"another that goes may not":               {change: after(func(n topology.Nodes) { n[4].Server.Empty = false }), doubt: "web-2-0 is a primary and holds keys"},
		"a copy that stays is behind":             {change: after(func(n topology.Nodes) { n[3].Shard, n[5].Shard, n[3].Server.Synced = 1, 1, false }), doubt: "web-1-1"},
		"its primary is silent":                   {change: after(func(n topology.Nodes) { n[5].Server.Empty, n[4].Server = false, nil }), doubt: "may be the only copy"},
		"its primary is none":                     {change: after(func(n topology.Nodes) { n[5].Server.Empty, n[4].Server.View[4].Follows = false, id(0) }), doubt: "may be the only copy"},
		"one sees slots of it":                    {change: after(func(n topology.Nodes) { n[1].Server.View[5].Slots = "7" }), doubt: "web-0-1 sees web-2-1 with slots 7"},
		"one that stays needs it":                 {change: after(func(n topology.Nodes) { n[3].Server.View[3].Follows = id(5) }), doubt: "web-1-1 follows web-2-1"},
		"it has a slot open":                      {change: after(func(n topology.Nodes) { n[5].Server.Open = []topology.OpenSlot{{Slot: 9, Peer: id(2)}} }), doubt: "web-2-1 has slots"},
		"there is no majority":                    {change: after(func(n topology.Nodes) { n[0].Server, n[2].Server = nil, nil }), doubt: "web-0-0 stays and does not answer"},
	}, func(n topology.Nodes) (Proof, string) {
		p, doubt := dismiss(n, leaving, replica)
		leaving = []string{"web-2-0", "web-2-1"}
		return p, doubt
	})
	prove(t, Server(primary), map[string]proofCase{
		"its replica is forgotten":     {change: after(func(n topology.Nodes) { forget(n[:4], 5) })},
		"its replica goes, too":        {change: vacate},
		"another's replica follows it": {change: after(func(n topology.Nodes) { n[1].Server.View[3].Follows = id(4) }), doubt: "web-0-1 sees " + id(3) + " follow"},
		"a replica that nobody answers for follows it": {change: after(func(n topology.Nodes) {
			n[0].Server.View = append(n[0].Server.View, topology.Peer{ID: id(9), Claim: topology.Claim{Follows: id(4)}})
		}), doubt: "follow"},
		"it has slots": {change: func(n topology.Nodes) { forget(n[:4], 5); forget(n[:4], 4) }, doubt: "10923 of 16384 slots"},
		"it has keys":  {change: after(func(n topology.Nodes) { forget(n[:4], 5); n[4].Server.Empty = false }), doubt: "holds keys"},
	}, func(n topology.Nodes) (Proof, string) { return dismiss(n, leaving, primary) })
}

func TestProveShrink(t *testing.T) {
	// Shard 2 was emptied and forgotten; its slots are shard 0's.
	emptied := func(n topology.Nodes) {
		vacate(n)
		forget(n[:4], 4)
		forget(n[:4], 5)
	}
	after := func(more func(n topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { emptied(n); more(n) }
	}
	prove(t, Pod("web-2-0", id(4)), map[string]proofCase{
		"emptied and forgotten":         {change: emptied},
		"one that goes is silent":       {change: after(func(n topology.Nodes) { n[5].Server = nil })},
		"one that goes is a copy":       {change: after(func(n topology.Nodes) { n[5].Server.View[5].Follows, n[5].Server.Empty = id(0), false })},
		"nothing was done yet":          {change: func(topology.Nodes) {}, doubt: "without those that go: 10923 of 16384"},
		"one that goes has keys":        {change: after(func(n topology.Nodes) { n[4].Server.Empty = false }), doubt: "web-2-0 is a primary and holds keys"},
		"one may be the only copy":      {change: after(func(n topology.Nodes) { n[5].Server.Empty, n[4].Server = false, nil }), doubt: "web-2-1 may be the only copy"},
		"one that stays is silent":      {change: after(func(n topology.Nodes) { n[1].Server = nil }), doubt: "web-0-1 stays and does not answer"},
		"one that goes is still listed": {change: after(func(n topology.Nodes) { n[3].Server.View = append(n[3].Server.View, topology.Peer{ID: id(5)}) }), doubt: "web-1-1 still lists"},
		"a slot is open":                {change: after(func(n topology.Nodes) { n[0].Server.Open = []topology.OpenSlot{{Slot: 7, Peer: id(2)}} }), doubt: "slot 7 open"},
		"slots are contested":           {change: after(func(n topology.Nodes) { n[2].Server.View[2].Slots = "5-6" }), doubt: "claims slots"},
	}, func(n topology.Nodes) (Proof, string) {
		return plainly(ProveShrink(n, []string{"web-2-0", "web-2-1"}, 10))
	})
	if _, doubt := ProveShrink(sound(), nil, 10); doubt == "" {
		t.Error("nothing to remove has a proof")
	}
}

func TestBehind(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(topology.Nodes)
		leaving string
		doubt   string
	}{
		"its primary goes":           {func(topology.Nodes) {}, "web-0-0", ""},
		"another shard is behind":    {func(n topology.Nodes) { n[3].Server.Synced = false }, "web-0-2", ""},
		"the other has a copy":       {func(topology.Nodes) {}, "web-0-2", ""},
		"the other is silent":        {func(n topology.Nodes) { n[1].Server = nil }, "web-0-2", "web-0-1 does not answer"},
		"the other is sent all data": {func(n topology.Nodes) { n[1].Server.Syncing = true }, "web-0-2", "web-0-1 is being sent all data of its primary"},
	} {
		n := append(sound(), topology.Node{Pod: topology.Pod{Name: "web-0-2", Shard: 0, Ordinal: 2}})
		c.change(n)
		if doubt := WhoIsBehind(n, []string{c.leaving}, 10); doubt != c.doubt {
			t.Errorf("%s: %q", name, doubt)
		}
	}
}
