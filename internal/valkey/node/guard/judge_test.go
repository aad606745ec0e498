package guard

import (
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/nodesconf"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Three primaries, each with a replica or two; "a" is the one that starts.
func memory() *nodesconf.File {
	return &nodesconf.File{
		Self: nodesconf.Node{ID: "a", Addr: "10.0.0.1:1", Epoch: 3, Slots: "0-99"},
		Peers: []nodesconf.Node{
			{ID: "a1", Addr: "10.0.0.4:1", Follows: "a", Epoch: 3},
			{ID: "a2", Addr: "10.0.0.5:1", Follows: "a", Epoch: 3},
			{ID: "b", Addr: "10.0.0.2:1", Epoch: 1, Slots: "100-199"},
			{ID: "b1", Addr: "10.0.0.6:1", Follows: "b", Epoch: 1},
			{ID: "c", Addr: "10.0.0.3:1", Epoch: 2, Slots: "200-299"},
		},
	}
}

// all is everyone else, as they see things while "a" is down.
func all() map[string]*topology.Server {
	view := func() []topology.Peer {
		return []topology.Peer{
			{ID: "a", Addr: "10.0.0.1:1", Epoch: 3, Claim: topology.Claim{Slots: "0-99"}},
			{ID: "a1", Addr: "10.0.0.4:1", Epoch: 3, Claim: topology.Claim{Follows: "a"}},
			{ID: "a2", Addr: "10.0.0.5:1", Epoch: 3, Claim: topology.Claim{Follows: "a"}},
			{ID: "b", Addr: "10.0.0.2:1", Epoch: 1, Claim: topology.Claim{Slots: "100-199"}},
			{ID: "b1", Addr: "10.0.0.6:1", Epoch: 1, Claim: topology.Claim{Follows: "b"}},
			{ID: "c", Addr: "10.0.0.3:1", Epoch: 2, Claim: topology.Claim{Slots: "200-299"}},
		}
	}
	servers := map[string]*topology.Server{}
	for _, p := range view() {
		servers[p.ID] = &topology.Server{ID: p.ID, View: view(), Gauges: topology.Gauges{Keys: 5, Offset: 50}}
	}
	delete(servers, "a")
	return servers
}

type scene struct {
	here    Here
	servers map[string]*topology.Server
}

// see changes how a server is seen, by those that answer to one of the names.
func (s *scene) see(id string, change func(*topology.Peer), by ...string) {
	for _, name := range by {
		for i := range s.servers[name].View {
			if p := &s.servers[name].View[i]; p.ID == id {
				change(p)
			}
		}
	}
}

func (s *scene) silence(names ...string) {
	for _, n := range names {
		delete(s.servers, n)
	}
}

func (s *scene) seen() (list []Seen) {
	for id, server := range s.servers {
		list = append(list, Seen{Addr: "at " + id, Server: server})
	}
	return list
}

func empty(names ...string) func(*scene) {
	return func(s *scene) {
		for _, n := range names {
			s.servers[n].Gauges = topology.Gauges{}
		}
	}
}

func forget(names ...string) func(*scene) {
	return func(s *scene) {
		for _, server := range s.servers {
			var view []topology.Peer
			for _, p := range server.View {
				if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+p.ID+" ") {
					view = append(view, p)
				}
			}
			server.View = view
		}
	}
}

// promoted is that these have heard that a1 took over.
func promoted(by ...string) func(*scene) {
	return func(s *scene) {
		s.see("a", func(p *topology.Peer) { p.Slots, p.Follows = "", "a1" }, by...)
		s.see("a1", func(p *topology.Peer) { p.Slots, p.Follows, p.Epoch = "0-99", "", 4 }, by...)
		s.see("a2", func(p *topology.Peer) { p.Follows = "a1" }, by...)
	}
}

// inEpoch is in which epoch a1 took over.
func inEpoch(e int64, by ...string) func(*scene) {
	return func(s *scene) { s.see("a1", func(p *topology.Peer) { p.Epoch = e }, by...) }
}

func silence(names ...string) func(*scene) { return func(s *scene) { s.silence(names...) } }
func data(d Data) func(*scene)             { return func(s *scene) { s.here.Data = d } }
func forgetful(s *scene)                   { s.here.Known = nil }
func patienceOver(s *scene)                { s.here.Late = true }
func at(addr string) func(*scene)          { return func(s *scene) { s.here.Addr = addr } }
func doubled(s *scene)                     { s.servers["a"] = s.servers["b"]; s.servers["a"].ID = "a" }
func held(s *scene)                        { s.here.Held = true }
func settled(s *scene)                     { s.here.Settled = true }
func restarted(s *scene)                   { s.servers["a1"].LinkDown, s.servers["a2"].LinkDown = -1, -1 }
func ahead(s *scene)                       { s.servers["a2"].Offset = 51 }

func TestJudge(t *testing.T) {
	everyone := []string{"a1", "a2", "b", "b1", "c"}
	for name, c := range map[string]struct {
		scene []func(*scene)
		do    Action
		asked string
	}{
		"it lost its data: the best replica takes over":             {nil, Ask, "a1"},
		"the one with more of the data is the better one":           {[]func(*scene){ahead}, Ask, "a2"},
		"all were restarted since, and have what is on their disks": {[]func(*scene){ahead, restarted}, Ask, "a2"},
		"one that is being sent everything is not asked":            {[]func(*scene){func(s *scene) { s.servers["a1"].Syncing = true }}, Ask, "a2"},
		"also at another address":                                   {[]func(*scene){at("10.0.0.9:1")}, Ask, "a1"},
		"an older copy is not enough while a replica has more":      {[]func(*scene){data(Snapshot)}, Ask, "a1"},
		"it has its data": {[]func(*scene){data(Log)}, Start, ""},
		"it lives, and this is a copy of its volume":                {[]func(*scene){data(Log), doubled}, Wait, ""},
		"it lives, and has for long":                                {[]func(*scene){data(Log), doubled, patienceOver}, Refuse, ""},
		"it has its data, at another address":                       {[]func(*scene){data(Log), at("10.0.0.9:1")}, Start, ""},
		"another took over, and all have heard":                     {[]func(*scene){promoted(everyone...)}, Start, ""},
		"another took over, and one replica has not heard":          {[]func(*scene){promoted("a1", "b", "b1", "c")}, Wait, ""},
		"another took over, and a replica does not answer":          {[]func(*scene){silence("a2"), promoted("a1", "b", "c")}, Start, ""},
		"only a voter is left to say that another took over":        {[]func(*scene){silence("a1", "a2", "b", "b1"), promoted("c")}, Start, ""},
		"it took over in the epoch that this one gave itself":       {[]func(*scene){promoted(everyone...), inEpoch(3, everyone...)}, Follow, "a1"},
		"the same, and there is an older copy":                      {[]func(*scene){promoted(everyone...), inEpoch(3, everyone...), data(Snapshot)}, Follow, "a1"},
		"the same, and there is all of it":                          {[]func(*scene){promoted(everyone...), inEpoch(3, everyone...), data(Log)}, Follow, "a1"},
		"the same, and most voters do not know":                     {[]func(*scene){promoted("a1", "a2", "b1", "c"), inEpoch(3, everyone...), data(Log)}, Start, ""},
		"the same, and there is nothing to lose":                    {[]func(*scene){promoted("a1", "a2"), inEpoch(3, everyone...)}, Follow, "a1"},
		"the same, and one replica has not heard":                   {[]func(*scene){promoted("a1", "b", "b1", "c"), inEpoch(3, everyone...)}, Wait, ""},
		"the same, and one replica has not heard for long":          {[]func(*scene){promoted("a1", "b", "b1", "c"), inEpoch(3, everyone...), patienceOver}, Refuse, ""},
		"an older primary is back, and a replica has what was lost": {[]func(*scene){promoted("a1"), inEpoch(2, everyone...)}, Ask, "a2"},
		"an older primary is back":                                  {[]func(*scene){promoted("a1"), inEpoch(2, everyone...), data(Log)}, Start, ""},
		"one replica does not answer, the other is asked":           {[]func(*scene){silence("a1")}, Ask, "a2"},
		"no replica answers":                                        {[]func(*scene){silence("a1", "a2")}, Wait, ""},
		"nobody answers":                                            {[]func(*scene){silence(everyone...)}, Wait, ""},
		"nobody has answered for long: others may hold the data":    {[]func(*scene){silence(everyone...), patienceOver}, Refuse, ""},
		"nobody took over for long, and no other replica can have":  {[]func(*scene){patienceOver}, Takeover, "a1"},
		"the same with an older copy":                               {[]func(*scene){patienceOver, data(Snapshot)}, Takeover, "a1"},
		"nobody took over for long, and another replica may have":   {[]func(*scene){patienceOver, silence("a2")}, Refuse, ""},
		"an older copy is no reason to start over a newer one":      {[]func(*scene){patienceOver, silence("a2"), data(Snapshot)}, Refuse, ""},
		"all were restarted, and each has an older copy, for long":  {[]func(*scene){patienceOver, data(Snapshot), restarted}, Start, ""},
		"most voters are gone, and all replicas are there":          {[]func(*scene){settled, silence("b", "c")}, Takeover, "a1"},
		"most voters are gone, and a replica as well":               {[]func(*scene){settled, silence("b", "c", "a2")}, Ask, "a1"},
		"most voters were not seen yet":                             {[]func(*scene){silence("b", "c")}, Ask, "a1"},
		"there are votes":                                           {[]func(*scene){settled}, Ask, "a1"},
		"most voters are gone, and each has an older copy":          {[]func(*scene){settled, silence("b", "c"), data(Snapshot), restarted}, Ask, "a1"},
		"nobody answered for long, and there is an older copy":      {[]func(*scene){silence(everyone...), patienceOver, data(Snapshot)}, Start, ""},
		"the replicas lost everything as well":                      {[]func(*scene){empty("a1", "a2")}, Start, ""},
		"the replicas lost everything as well, and it held keys":    {[]func(*scene){empty("a1", "a2"), held}, Refuse, ""},
		"it held keys, and has them":                                {[]func(*scene){empty("a1", "a2"), held, data(Log)}, Start, ""},
		"it held keys, and an older copy is left":                   {[]func(*scene){empty("a1", "a2"), held, data(Snapshot)}, Start, ""},
		"it held keys, and no replica was ever there":               {[]func(*scene){silence("a1", "a2"), forget("a1", "a2"), held, func(s *scene) { s.here.Known.Peers = s.here.Known.Peers[2:] }}, Refuse, ""},
		"it held keys, and another took over":                       {[]func(*scene){promoted(everyone...), held}, Start, ""},
		"one replica lost everything, the other has it":             {[]func(*scene){empty("a1")}, Ask, "a2"},
		"one replica lost everything, the other does not answer":    {[]func(*scene){empty("a1"), silence("a2")}, Wait, ""},
		"replicas that nobody knows any more are gone":              {[]func(*scene){silence("a1", "a2"), forget("a1", "a2")}, Start, ""},
		"a minority cannot say that they are gone":                  {[]func(*scene){silence("a1", "a2", "b", "b1"), forget("a1", "a2")}, Wait, ""},
		"a replica that it has not heard of is asked":               {[]func(*scene){func(s *scene) { s.here.Known.Peers = s.here.Known.Peers[2:] }}, Ask, "a1"},
		"a replica that it has not heard of does not answer":        {[]func(*scene){silence("a1", "a2"), func(s *scene) { s.here.Known.Peers = s.here.Known.Peers[2:] }}, Wait, ""},
		"no replica was ever there":                                 {[]func(*scene){silence("a1", "a2"), forget("a1", "a2"), func(s *scene) { s.here.Known.Peers = s.here.Known.Peers[2:] }}, Start, ""},
		"it was a replica":                                          {[]func(*scene){silence("a1", "a2"), func(s *scene) { s.here.Known.Self.Follows, s.here.Known.Self.Slots = "b", "" }}, Start, ""},
		"it owned nothing":                                          {[]func(*scene){silence("a1", "a2"), func(s *scene) { s.here.Known.Self.Slots = "" }}, Start, ""},
		"no memory, and nobody is there":                            {[]func(*scene){forgetful, silence(everyone...)}, Start, ""},
		"no memory, at an address of its own":                       {[]func(*scene){forgetful, at("10.0.0.9:1")}, Start, ""},
		"no memory, at the address that replicas look for":          {[]func(*scene){forgetful}, Wait, ""},
		"no memory but data, at the address that replicas look for": {[]func(*scene){forgetful, data(Log)}, Wait, ""},
		"no memory, and the replicas there have found another":      {[]func(*scene){forgetful, promoted(everyone...)}, Start, ""},
		"no memory, and the replicas there hold nothing":            {[]func(*scene){forgetful, empty("a1", "a2")}, Start, ""},
		"no memory, and for long":                                   {[]func(*scene){forgetful, patienceOver}, Refuse, ""},
		"with data, where another's replicas look":                  {[]func(*scene){data(Log), at("10.0.0.2:1"), silence("b")}, Wait, ""},
		"with data, where another's replicas look, for long":        {[]func(*scene){data(Log), at("10.0.0.2:1"), silence("b"), patienceOver}, Start, ""},
		"without data, where another's replicas look, for long":     {[]func(*scene){at("10.0.0.2:1"), silence("b"), patienceOver}, Refuse, ""},
		"where another was that had no replicas":                    {[]func(*scene){data(Log), at("10.0.0.3:1"), silence("c")}, Start, ""},
		"strangers have nothing to say": {[]func(*scene){at("10.0.0.9:1"), silence(everyone...), func(s *scene) {
			s.servers["x"] = &topology.Server{ID: "x", View: []topology.Peer{{ID: "x", Claim: topology.Claim{Slots: "0-99"}, Epoch: 9}}}
		}}, Wait, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{here: Here{Addr: "10.0.0.1:1", Data: Nothing, Known: memory()}, servers: all()}
			for _, change := range c.scene {
				change(s)
			}
			v := Judge(s.here, s.seen())
			if v.Do != c.do || v.ID != c.asked || v.Words == "" {
				t.Errorf("%s %s: %s; want %s %s", v.Do, v.ID, v.Words, c.do, c.asked)
			}
			if missing := strings.Contains(v.Words, "nothing to load") && (strings.Contains(v.Words, "no replica holds them") || strings.Contains(v.Words, "does not answer")); v.DataMissing != missing {
				t.Errorf("dataMissing is %t: %s", v.DataMissing, v.Words)
			}
			if v.Do == Ask && v.Addr != "at "+v.ID {
				t.Errorf("%s is asked at %s", v.ID, v.Addr)
			}
		})
	}
}
