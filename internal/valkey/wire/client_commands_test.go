package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// three is a view of three servers, and of two more without slots: who answers is ida, of the flags and slots given.
func three(self string) map[string]string {
	return map[string]string{"CLUSTER GETSLOTMIGRATIONS": "-ERR unknown subcommand 'GETSLOTMIGRATIONS'. Try CLUSTER HELP.\r\n", "CLUSTER NODES": bulk(ida + " 10.0.0.1:6379@16379 myself," + self + "\n" +
		idb + " 10.0.0.2:6379@16379 master - 0 1 2 connected 5461-10922\n" +
		idc + " 10.0.0.3:6379@16379 slave " + idb + " 0 1 2 connected\n" +
		idd + " 10.0.0.4:6379@16379 master - 0 1 3 connected\n" +
		ide + " 10.0.0.5:6379@16379 slave " + idd + " 0 1 3 connected\n")}
}

const (
	anOwner  = "master - 0 0 1 connected 0-5460 [93->-" + idb + "] [94-<-" + idb + "]"
	aReplica = "slave " + idb + " 0 0 2 connected"
	aBlank   = "master - 0 0 1 connected"
)

// What is told is one command at most, and some are not told at all.
func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		self string
		tell func(*Client, Target) error
		want []string // what the server hears, besides who it is
		err  error
	}{
		"fail over by agreement": {self: aReplica, want: []string{"CLUSTER FAILOVER", "ROLE"},
			tell: func(c *Client, at Target) error { return c.Failover(t.Context(), at, Agreed) }},
		"fail over by force": {self: aReplica, want: []string{"CLUSTER FAILOVER FORCE", "ROLE"},
			tell: func(c *Client, at Target) error { return c.Failover(t.Context(), at, Forced) }},
		"fail over without asking": {self: aReplica, want: []string{"CLUSTER FAILOVER TAKEOVER", "ROLE"},
			tell: func(c *Client, at Target) error { return c.Failover(t.Context(), at, Taken) }},
		"fail over to who is primary already": {self: anOwner,
			tell: func(c *Client, at Target) error { return c.Failover(t.Context(), at, Agreed) }},
		"forget a replica": {self: anOwner, want: []string{"CLUSTER FORGET " + idc},
			tell: func(c *Client, at Target) error { return c.Forget(t.Context(), at, idc) }},
		"forget a primary with its replica": {self: aBlank, want: []string{"CLUSTER FORGET " + idd, "CLUSTER FORGET " + ide},
			tell: func(c *Client, at Target) error { return c.Forget(t.Context(), at, idd, ide) }},
		"forget a primary without its replica": {self: aBlank, err: ErrNotBlank,
			tell: func(c *Client, at Target) error { return c.Forget(t.Context(), at, idd) }},
		"forget one that is not known": {self: anOwner,
			tell: func(c *Client, at Target) error { return c.Forget(t.Context(), at, strings.Repeat("f", 40)) }},
		"forget an owner of slots": {self: aBlank, err: ErrNotBlank,
			tell: func(c *Client, at Target) error { return c.Forget(t.Context(), at, idb) }},
		"forget one with a replica": {self: aReplica, err: ErrNotBlank,
			tell: func(c *Client, at Target) error { return c.Forget(t.Context(), at, idb) }},
		"reset a replica": {self: aReplica, want: []string{"CLUSTER RESET SOFT"},
			tell: func(c *Client, at Target) error { return c.Reset(t.Context(), at, false) }},
		"reset for good": {self: aBlank, want: []string{"CLUSTER RESET HARD"},
			tell: func(c *Client, at Target) error { return c.Reset(t.Context(), at, true) }},
		"reset an owner of slots": {self: anOwner, err: ErrNotBlank,
			tell: func(c *Client, at Target) error { return c.Reset(t.Context(), at, true) }},
		"set settings in one go": {self: anOwner, want: []string{"CONFIG SET a 1 b 2"},
			tell: func(c *Client, at Target) error {
				return c.ConfigSet(t.Context(), at, map[string]string{"b": "2", "a": "1"})
			}},
		"import what is not imported yet": {self: anOwner, want: []string{"CLUSTER SETSLOT 95 IMPORTING " + idb},
			tell: func(c *Client, at Target) error { return c.SetSlotsImporting(t.Context(), at, "94-95", idb) }},
		"migrate what is not migrating yet": {self: anOwner, want: []string{"CLUSTER SETSLOT 92 MIGRATING " + idb},
			tell: func(c *Client, at Target) error { return c.SetSlotsMigrating(t.Context(), at, "92-93", idb) }},
		"name the owner of slots": {self: anOwner, want: []string{"CLUSTER SETSLOT 1 NODE " + idb, "CLUSTER SETSLOT 2 NODE " + idb},
			tell: func(c *Client, at Target) error { return c.SetSlotsNode(t.Context(), at, "1-2", idb) }},
		"close a slot": {self: anOwner, want: []string{"CLUSTER SETSLOT 93 STABLE"},
			tell: func(c *Client, at Target) error { return c.SetSlotsStable(t.Context(), at, "93") }},
		"send keys, logged on": {self: anOwner, want: []string{"MIGRATE 10.0.0.2 6379  0 1000 REPLACE AUTH2 u p KEYS x y", "MIGRATE 10.0.0.2 6379  0 1000 REPLACE AUTH2 u p KEYS z"},
			tell: func(c *Client, at Target) error {
				return c.MigrateKeys(t.Context(), at, Migration{To: "10.0.0.2:6379", Batches: [][]string{{"x", "y"}, {}, {"z"}}, Within: time.Second, User: "u", Password: "p"})
			}},
		"send no keys": {self: anOwner,
			tell: func(c *Client, at Target) error {
				return c.MigrateKeys(t.Context(), at, Migration{To: "10.0.0.2:6379", Batches: [][]string{{}}})
			}},
		"send slots as a whole": {self: anOwner, want: []string{"CLUSTER MIGRATESLOTS SLOTSRANGE 0 3 7 7 NODE " + idb + " SLOTSRANGE 9 9 NODE " + idc},
			tell: func(c *Client, at Target) error {
				return c.MigrateSlots(t.Context(), at, []SlotsTo{{Slots: "0-3 7", To: idb}, {Slots: "9", To: idc}})
			}},
		"cancel": {self: anOwner, want: []string{"CLUSTER CANCELSLOTMIGRATIONS"},
			tell: func(c *Client, at Target) error { return c.CancelSlotMigrations(t.Context(), at) }},
	} {
		t.Run(name, func(t *testing.T) {
			answers := three(c.self)
			for _, command := range c.want {
				answers[command] = "+OK\r\n"
			}
			s := newStub(t, answers)
			client := patient()
			defer client.Close()
			if err := c.tell(client, Target{Addr: s.Addr().String(), ID: ida}); !errors.Is(err, c.err) {
				t.Errorf("error %v", err)
			}
			told := s.told()
			slices.Sort(told) // some are sent side by side
			if diff := cmp.Diff(c.want, told); diff != "" {
				t.Error(diff)
			}
			if err := c.tell(client, Target{Addr: s.Addr().String(), ID: idb}); !errors.Is(err, ErrOtherServer) {
				t.Errorf("another server is told: %v", err)
			}
		})
	}
}

// told is what the server heard besides questions.
func (s *stub) told() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heard {
		if h != "CLUSTER NODES" && h != "CLUSTER GETSLOTMIGRATIONS" && !strings.HasPrefix(h, "CLIENT") && !strings.HasPrefix(h, "HELLO") {
			list = append(list, h)
		}
	}
	return list
}

// A server goes on to send slots to one that it forgot, and never hears that they were taken.
func TestWhoGetsSlotsIsNotForgotten(t *testing.T) {
	for state, want := range map[string]error{"snapshotting": ErrNotBlank, "success": nil, "failed": nil} {
		answers := three(aBlank)
		var job string
		for _, word := range []string{"name", "x", "operation", "EXPORT", "slot_ranges", "7-9", "source_node", ida, "target_node", ide, "state", state} {
			job += bulk(word)
		}
		answers["CLUSTER GETSLOTMIGRATIONS"] = "*1\r\n*12\r\n" + job
		answers["CLUSTER FORGET "+ide] = "+OK\r\n"
		s := newStub(t, answers)
		client := patient()
		defer client.Close()
		if err := client.Forget(t.Context(), Target{Addr: s.Addr().String(), ID: ida}, ide); !errors.Is(err, want) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestQuestionsAboutSlots(t *testing.T) {
	answers := three(anOwner)
	answers["CLUSTER COUNTKEYSINSLOT 7"], answers["CLUSTER COUNTKEYSINSLOT 9"] = ":3\r\n", ":0\r\n"
	answers["CLUSTER GETKEYSINSLOT 7 10"] = "*2\r\n" + bulk("x") + bulk("y")
	answers["CLUSTER GETSLOTMIGRATIONS"] = "*0\r\n"
	answers["CLUSTER CANCELSLOTMIGRATIONS"] = "-ERR No migrations ongoing\r\n"
	s := newStub(t, answers)
	client := patient()
	defer client.Close()
	at := Target{Addr: s.Addr().String(), ID: ida}
	counts, err := client.CountKeysInSlots(t.Context(), at, "7 9")
	if diff := cmp.Diff(map[int]int{7: 3, 9: 0}, counts); diff != "" || err != nil {
		t.Error(diff, err)
	}
	keys, err := client.KeysInSlot(t.Context(), at, 7, 10)
	if diff := cmp.Diff([]string{"x", "y"}, keys); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if jobs, err := client.SlotMigrations(t.Context(), at); len(jobs) > 0 || err != nil {
		t.Error(jobs, err)
	}
	if err := client.CancelSlotMigrations(t.Context(), at); err != nil {
		t.Errorf("nothing to cancel is a mistake: %v", err)
	}
	if _, err := client.CountKeysInSlots(t.Context(), at, "8"); !errors.Is(err, ErrRefused) {
		t.Errorf("a count that is refused: %v", err)
	}
}

// A command that takes its time is waited for.
func TestSlowCommandsAreWaitedFor(t *testing.T) {
	s := newStub(t, three(anOwner))
	s.answers["MIGRATE 10.0.0.2 6379  0 2000 REPLACE KEYS x"] = "+OK\r\n"
	s.slow = map[string]time.Duration{"MIGRATE": patience + patience/4}
	client := NewClient()
	defer client.Close()
	m := Migration{To: "10.0.0.2:6379", Batches: [][]string{{"x"}}, Within: 2 * time.Second}
	if err := client.MigrateKeys(t.Context(), Target{Addr: s.Addr().String(), ID: ida}, m); err != nil {
		t.Error(err)
	}
}
