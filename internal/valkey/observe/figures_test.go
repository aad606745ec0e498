package observe

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// primary owns slots of a shard; replica follows it. Both are well.
func primary(id, shard string, slots topology.Slots) *topology.Server {
	return &topology.Server{
		ID: id, ShardID: shard, OK: true, Synced: true, History: "h-" + shard, MemoryLimit: 1000,
		View:   []topology.Peer{{ID: id, Epoch: 1, Claim: topology.Claim{Slots: slots}}},
		Gauges: topology.Gauges{Offset: 500, Memory: 100},
	}
}

func replica(id string, of *topology.Server) *topology.Server {
	return &topology.Server{
		ID: id, ShardID: of.ShardID, OK: true, Synced: true, History: of.History, MemoryLimit: 1000,
		View:   []topology.Peer{{ID: id, Claim: topology.Claim{Follows: of.ID}}},
		Gauges: topology.Gauges{Offset: 480, PrimaryOffset: 490, Memory: 90},
	}
}

func answersOf(servers ...*topology.Server) Answers {
	a := Answers{Servers: map[string]*topology.Server{}}
	for _, s := range servers {
		a.Servers["addr of "+s.ID] = s
	}
	return a
}

func TestFigures(t *testing.T) {
	type servers struct{ p, r *topology.Server }
	for what, c := range map[string]struct {
		change func(*servers)
		want   Figures
	}{
		"all is well":                {func(*servers) {}, Figures{8192, 1, Lag{20, true}, 100, 1000}},
		"it does not serve":          {func(s *servers) { s.p.OK = false }, Figures{0, 1, Lag{20, true}, 100, 1000}},
		"the primary is silent":      {func(s *servers) { s.p = nil }, Figures{0, 1, Lag{10, true}, 90, 1000}},
		"the link is down":           {func(s *servers) { s.r.Synced, s.r.LinkDown = false, 7 }, Figures{8192, 0, Lag{20, true}, 100, 1000}},
		"it copies everything":       {func(s *servers) { s.r.Syncing, s.r.History = true, "other" }, Figures{8192, 0, Lag{}, 100, 1000}},
		"it was asked later":         {func(s *servers) { s.r.Offset = 520 }, Figures{8192, 1, Lag{0, true}, 100, 1000}},
		"no replica":                 {func(s *servers) { s.r = nil }, Figures{8192, 0, Lag{}, 100, 1000}},
		"the replica is fuller":      {func(s *servers) { s.r.MemoryLimit = 95 }, Figures{8192, 1, Lag{20, true}, 90, 95}},
		"without a limit":            {func(s *servers) { s.p.MemoryLimit, s.r.MemoryLimit = 0, 0 }, Figures{8192, 1, Lag{20, true}, 100, 0}},
		"two claim the same slots":   {func(s *servers) { s.r = primary("b", "t", topology.Range(0, 8191)) }, Figures{8192, 0, Lag{}, 100, 1000}},
		"two have a half of them":    {func(s *servers) { s.r = primary("b", "t", topology.Range(8192, 16383)) }, Figures{16384, 0, Lag{}, 100, 1000}},
		"nobody answers (a look is)": {func(s *servers) { s.p, s.r = nil, nil }, Figures{}},
	} {
		s := servers{p: primary("a", "s", topology.Range(0, 8191))}
		s.r = replica("r", s.p)
		c.change(&s)
		var there []*topology.Server
		for _, server := range []*topology.Server{s.p, s.r} {
			if server != nil {
				there = append(there, server)
			}
		}
		if got := answersOf(there...).Figures(); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

func TestFailoversAreCounted(t *testing.T) {
	key, other := read.Key{Namespace: "shop", Name: "orders"}, read.Key{Namespace: "shop", Name: "carts"}
	old := primary("a", "s", topology.Range(0, 8191))
	young := primary("b", "s", topology.Range(0, 8191))
	young.View[0].Epoch = 2
	back := primary("a", "s", topology.Range(0, 8191))
	back.View[0].Epoch = 3
	neighbour := primary("c", "t", topology.Range(8192, 16383))
	empty := primary("d", "u", "")
	f := &Failovers{}
	for i, step := range []struct {
		seen Answers
		want int
	}{
		{answersOf(old, neighbour), 0},
		{answersOf(old, neighbour, empty), 0},
		{answersOf(neighbour), 0},             // it does not answer; its replica has not taken over yet
		{answersOf(young, old, neighbour), 1}, // the former primary has not heard of it
		{answersOf(young, neighbour), 1},
		{answersOf(old, neighbour), 1}, // the new one does not answer; the former has still not heard of it
		{answersOf(back, young, neighbour), 2},
	} {
		f.See(key, step.seen)
		if got := f.Of(key); got != step.want {
			t.Errorf("look %d: %d failovers, want %d", i, got, step.want)
		}
	}
	if f.Of(other) != 0 {
		t.Error("another cluster had them")
	}
	f.Forget(key)
	f.See(key, answersOf(young)) // another cluster of the name
	if got := f.Of(key); got != 0 {
		t.Errorf("%d of a cluster that is gone", got)
	}
}
