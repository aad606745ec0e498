package wire

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	primaryInfo = "# Memory\r\nused_memory:2048\r\nused_memory_dataset:1024\r\nmaxmemory:4096\r\n# Replication\r\nrole:master\r\nconnected_slaves:2\r\n" +
		"slave1:ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0,type=replica\r\n" +
		"slave0:ip=10.0.0.2,port=6379,state=online,offset=14,lag=0,type=replica\r\n" +
		"master_replid:h\r\nmaster_repl_offset:42\r\nslave_repl_offset:7\r\n# Keyspace\r\ndb0:keys=2,expires=1\r\ndb3:keys=5,expires=0\r\n"
	replicaInfo = "role:slave\r\nmaster_host:10.0.0.1\r\nmaster_link_status:down\r\nmaster_sync_in_progress:1\r\n" +
		"slave_read_repl_offset:40\r\nslave_repl_offset:39\r\nmaster_link_down_since_seconds:-1\r\nmaster_repl_offset:38\r\n"
)

func TestGauges(t *testing.T) {
	got := gauges(ParseInfo(primaryInfo), Role{Primary: true})
	if diff := cmp.Diff(topology.Gauges{Offset: 42, Keys: 7, Memory: 2048, Dataset: 1024}, got); diff != "" {
		t.Error("a primary", diff)
	}
	got = gauges(ParseInfo(replicaInfo), Role{})
	if diff := cmp.Diff(topology.Gauges{Offset: 39, PrimaryOffset: 40, LinkDown: -1}, got); diff != "" {
		t.Error("a replica", diff)
	}
	want := []topology.Attached{{Addr: "10.0.0.2:6379", Online: true}, {Addr: "10.0.0.3:6379"}}
	if diff := cmp.Diff(want, attached(ParseInfo(primaryInfo))); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersBecomeOneLook(t *testing.T) {
	shards := []any{[]any{"nodes", []any{[]any{"id", ida}, []any{"id", idc}}}, []any{"nodes", []any{[]any{"id", idb}}}}
	a := answers{
		id: idb, shardID: "s", nodes: threeNodes, info: "valkey_version:9.1.2\r\nloading:0\r\nasync_loading:1\r\n" + primaryInfo,
		cluster: "cluster_state:ok\r\ncluster_current_epoch:17\r\n", shards: shards, role: []any{"master", int64(1), []any{}},
		settings: map[string]string{nodeTimeout: "2000", podMark: "shop/web-0-0/1"},
	}
	s, err := a.server()
	if err != nil {
		t.Fatal(err)
	}
	s.View, s.Attached = nil, nil
	want := &topology.Server{ID: idb, Mark: "shop/web-0-0/1", ShardID: "s", Version: "9.1.2", Synced: true, OK: true, Timeout: 2000, Epoch: 17,
		History: "h", Loading: true, MemoryLimit: 4096, Gauges: topology.Gauges{Offset: 42, Keys: 7, Memory: 2048, Dataset: 1024},
		Open: []topology.OpenSlot{{Slot: 93, Peer: ida}, {Slot: 7000, Peer: ida, Importing: true}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	a.id = ida
	if _, err := a.server(); !errors.Is(err, ErrMalformed) {
		t.Errorf("an ID that changed meanwhile: %v", err)
	}
}

func job(operation, state string) []any {
	return []any{"name", "j", "operation", operation, "slot_ranges", "10-12 0-3", "target_node", idb, "source_node", ida,
		"create_time", int64(1), "state", state, "message", "why", "remaining_repl_size", int64(9)}
}

func TestParseSlotMigrations(t *testing.T) {
	jobs, err := ParseSlotMigrations([]any{job("EXPORT", "failed"), job("IMPORT", "snapshotting")})
	if err != nil {
		t.Fatal(err)
	}
	want := topology.SlotJob{Name: "j", Slots: "0-3 10-12", Source: ida, Target: idb, State: "failed", Message: "why", Created: 1, Remaining: 9}
	other := want
	other.Importing, other.State = true, "snapshotting"
	if diff := cmp.Diff([]topology.SlotJob{want, other}, jobs); diff != "" {
		t.Error(diff)
	}
	if !jobs[0].Ended() || jobs[1].Ended() {
		t.Error("a failed job has ended, and one that takes a snapshot has not")
	}
	noSlots := job("EXPORT", "failed")
	noSlots[5] = "x"
	for name, answer := range map[string]any{
		"no list": "OK", "no state": []any{[]any{"name", "j"}}, "no operation": []any{job("COPY", "failed")}, "no slots": []any{noSlots},
	} {
		if _, err := ParseSlotMigrations(answer); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is accepted of jobs holds together.
func FuzzParseSlotMigrations(f *testing.F) {
	text, err := json.Marshal([]any{job("IMPORT", "success")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		var answer any
		if json.Unmarshal([]byte(text), &answer) != nil {
			return
		}
		jobs, err := ParseSlotMigrations(answer)
		for _, j := range jobs {
			if again, bad := topology.ParseSlots(string(j.Slots)); bad != nil || again != j.Slots || err != nil {
				t.Errorf("slots %q: %v, %v", j.Slots, bad, err)
			}
		}
	})
}

// Whatever INFO says, keys are counted only in databases, and replicas come in order.
func FuzzParseInfo(f *testing.F) {
	f.Add(primaryInfo)
	f.Add(replicaInfo)
	f.Fuzz(func(t *testing.T, text string) {
		info := ParseInfo(text)
		g := gauges(info, Role{Primary: true})
		if !HoldsKeys(info) && g.Keys != 0 {
			t.Errorf("%d keys in no database", g.Keys)
		}
		for i, a := range attached(info) {
			if i > 0 && attached(info)[i-1].Addr > a.Addr {
				t.Errorf("replicas out of order: %v", attached(info))
			}
		}
	})
}
