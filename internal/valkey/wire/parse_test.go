package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	ida = "0b9ce4a2bfbd0c1c5a2fbf6d9c3c2f5f5e1c7a01"
	idb = "1b9ce4a2bfbd0c1c5a2fbf6d9c3c2f5f5e1c7a02"
	idc = "2b9ce4a2bfbd0c1c5a2fbf6d9c3c2f5f5e1c7a03"
	idd = "3b9ce4a2bfbd0c1c5a2fbf6d9c3c2f5f5e1c7a04"
	ide = "4b9ce4a2bfbd0c1c5a2fbf6d9c3c2f5f5e1c7a05"

	threeNodes = idb + " 10.0.0.2:6379@16379 myself,master - 0 0 2 connected 5461-10922 11000 [7000-<-" + ida + "] [93->-" + ida + "]\n" +
		ida + " 10.0.0.1:6379@16379,web-0-0 master,fail? - 1711111 1711112 1 disconnected 0-5460\n" +
		idc + " [fd00::7]:6379@16379 slave " + ida + " 0 1711113 1 connected\n"
)

func TestParseNodes(t *testing.T) {
	nodes, err := ParseNodes(threeNodes)
	if err != nil {
		t.Fatal(err)
	}
	want := []topology.Peer{
		{ID: ida, Addr: "10.0.0.1:6379", State: topology.Suspected, Epoch: 1, Claim: topology.Claim{Slots: "0-5460"}},
		{ID: idb, Addr: "10.0.0.2:6379", Linked: true, Epoch: 2, Claim: topology.Claim{Slots: "5461-10922 11000"}},
		{ID: idc, Addr: "[fd00::7]:6379", Linked: true, Epoch: 1, Claim: topology.Claim{Follows: ida}},
	}
	open := []topology.OpenSlot{{Slot: 93, Peer: ida}, {Slot: 7000, Peer: ida, Importing: true}}
	if diff := cmp.Diff(Nodes{Self: idb, Peers: want, Open: open}, nodes); diff != "" {
		t.Error(diff)
	}
}

func TestParseNodesReadsWhatIsNotSaidPlainly(t *testing.T) {
	line := func(addr, flags string) string {
		return ida + " :6379@16379 myself,master - 0 0 0 connected\n" + idb + " " + addr + " " + flags + " - 0 0 0 disconnected\n"
	}
	for name, c := range map[string]struct {
		text string
		want topology.Peer
	}{
		"a handshake is nothing else":   {line("10.0.0.2:6379@16379", "handshake,fail?"), topology.Peer{Addr: "10.0.0.2:6379", State: topology.Handshake}},
		"failed outweighs suspected":    {line("10.0.0.2:6379@16379", "master,fail?,fail"), topology.Peer{Addr: "10.0.0.2:6379", State: topology.Failed}},
		"an address that is not known":  {line(":0@0", "master,noaddr"), topology.Peer{State: topology.Unlocated}},
		"an address without brackets":   {line("fd00::7:6379@16379", "master"), topology.Peer{Addr: "[fd00::7]:6379"}},
		"a hostname beside the address": {line("10.0.0.2:6379@16379,web,shard-id=x", "master"), topology.Peer{Addr: "10.0.0.2:6379"}},
		"a flag that is not known":      {line("10.0.0.2:6379@16379", "master,nofailover"), topology.Peer{Addr: "10.0.0.2:6379"}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := ParseNodes(c.text)
			if err != nil {
				t.Fatal(err)
			}
			c.want.ID = idb
			if diff := cmp.Diff(c.want, nodes.Peers[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseNodesRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                  "",
		"nobody is myself":         ida + " 10.0.0.1:6379@16379 master - 0 0 0 connected\n",
		"two are myself":           ida + " :1@2 myself,master - 0 0 0 connected\n" + idb + " :1@2 myself,master - 0 0 0 connected\n",
		"one is listed twice":      ida + " :1@2 myself,master - 0 0 0 connected\n" + ida + " :1@2 master - 0 0 0 connected\n",
		"a short line":             ida + " :1@2 myself,master - 0 0 0\n",
		"an ID that is none":       "X" + ida[1:] + " :1@2 myself,master - 0 0 0 connected\n",
		"a primary that is none":   ida + " :1@2 myself,slave nobody 0 0 0 connected\n",
		"a slot that is too large": ida + " :1@2 myself,master - 0 0 0 connected 0-16384\n",
		"an epoch that is none":    ida + " :1@2 myself,master - 0 0 x connected\n",
		"an open slot of nobody":   ida + " :1@2 myself,master - 0 0 0 connected [7->-x]\n",
		"an open slot of no kind":  ida + " :1@2 myself,master - 0 0 0 connected [7-" + idb + "]\n",
		"an open slot left open":   ida + " :1@2 myself,master - 0 0 0 connected [7->-" + idb + "\n",
		"a range the wrong way":    ida + " :1@2 myself,master - 0 0 0 connected 9-3\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseNodes(text); !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestParseShards(t *testing.T) {
	node := func(id string) []any { return []any{"id", id, "port", int64(6379), "health", "online"} }
	lists := []any{
		[]any{"slots", []any{int64(0), int64(100)}, "nodes", []any{node(idb), node(ida)}},
		[]any{"slots", []any{}, "nodes", []any{node(idc)}, "id", "shard"},
	}
	maps := []any{
		map[string]any{"nodes": []any{map[string]any{"id": idb}, map[string]any{"id": ida}}},
		map[string]any{"nodes": []any{map[string]any{"id": idc}}},
	}
	for name, answer := range map[string]any{"lists": lists, "maps": maps} {
		got, err := ParseShards(answer)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(map[string]string{ida: ida, idb: ida, idc: idc}, got); diff != "" {
			t.Error(name, diff)
		}
	}
	for name, answer := range map[string]any{
		"no list":            "OK",
		"no nodes":           []any{[]any{"slots", []any{}}},
		"no ID":              []any{[]any{"nodes", []any{[]any{"port", int64(1)}}}},
		"a server in shards": []any{[]any{"nodes", []any{node(ida)}}, []any{"nodes", []any{node(ida)}}},
	} {
		if _, err := ParseShards(answer); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestParseInfo(t *testing.T) {
	info := ParseInfo("# Server\r\nvalkey_version:8.1.1\r\nexecutable:/a:b\r\n\r\n# Keyspace\r\ndb0:keys=2,expires=0\r\n")
	want := map[string]string{"valkey_version": "8.1.1", "executable": "/a:b", "db0": "keys=2,expires=0"}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Error(diff)
	}
	if !HoldsKeys(info) || HoldsKeys(map[string]string{"db": "", "dbsize": "3"}) {
		t.Error("keys are told by databases that are listed")
	}
}

func TestParseRole(t *testing.T) {
	for name, c := range map[string]struct {
		answer any
		want   Role
		bad    bool
	}{
		"a primary":               {answer: []any{"master", int64(7), []any{}}, want: Role{Primary: true, Synced: true}},
		"a replica in sync":       {answer: []any{"slave", "10.0.0.1", int64(6379), "connected", int64(7)}, want: Role{Synced: true}},
		"a replica that connects": {answer: []any{"slave", "10.0.0.1", int64(6379), "connecting", int64(-1)}},
		"a sentinel":              {answer: []any{"sentinel", []any{}}, bad: true},
		"a short one":             {answer: []any{"slave"}, bad: true},
		"no list":                 {answer: "master", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRole(c.answer)
			if got != c.want || errors.Is(err, ErrMalformed) != c.bad {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	for reply, want := range map[string]error{
		"LOADING Valkey is loading the dataset in memory":                                         ErrLoading,
		"NOPERM User default has no permissions to run the 'cluster|meet' command":                ErrDenied,
		"ERR Unknown node " + ida:                                                                 ErrUnknownPeer,
		"I don't know about node " + ida:                                                          ErrUnknownPeer,
		"Can't assign hashslot 7 to a different node while I still hold keys for this hash slot.": ErrNotBlank,
		"CLUSTER RESET can't be called with primary nodes containing keys":                        ErrNotBlank,
		"ERR unknown subcommand 'GETSLOTMIGRATIONS'. Try CLUSTER HELP.":                           errTooOld,
		"No migrations ongoing":                                                                   errIdle,
		"Slot 7 is already busy":                                                                  ErrNotBlank,
		"To set a master the node must be empty and without assigned slots.":                      ErrNotBlank,
		"ERR I can only replicate a master, not a replica.":                                       ErrRefused,
	} {
		if err := refusal(reply); !errors.Is(err, want) {
			t.Errorf("%s: %v", reply, err)
		}
	}
}

// What a server answers is outside input: it must not bring the operator down, and
// what is accepted must hold together.
func FuzzParseNodes(f *testing.F) {
	f.Add(threeNodes)
	f.Add(ida + " :1@2 myself,master - 0 0 0 connected 0 2 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := ParseNodes(text)
		if err != nil {
			return
		}
		s := topology.Server{ID: nodes.Self, View: nodes.Peers}
		if s.Self().ID != nodes.Self {
			t.Errorf("%s is not in its own view", nodes.Self)
		}
		for _, p := range nodes.Peers {
			again, err := topology.ParseSlots(string(p.Slots))
			if err != nil || again != p.Slots || p.Slots.Count() > topology.TotalSlots {
				t.Errorf("slots %q read again are %q: %v", p.Slots, again, err)
			}
		}
	})
}

func FuzzParseAnswers(f *testing.F) {
	f.Add(`[["slots",[0,1],"nodes",[["id","` + ida + `"]]]]`)
	f.Add(`[{"nodes":[{"id":"` + ida + `"}]}]`)
	f.Add(`["slave","10.0.0.1",6379,"connected",7]`)
	f.Fuzz(func(t *testing.T, text string) {
		var answer any
		if json.Unmarshal([]byte(text), &answer) != nil {
			return
		}
		shards, err := ParseShards(answer)
		if err == nil && len(shards) > 0 {
			for id, least := range shards {
				if least > id || shards[least] != least {
					t.Errorf("the least of %s is %s", id, least)
				}
			}
		}
		_, _ = ParseRole(answer)
		for name := range ParseInfo(text) {
			if strings.ContainsAny(name, "\n") {
				t.Errorf("a name of two lines: %q", name)
			}
		}
	})
}
