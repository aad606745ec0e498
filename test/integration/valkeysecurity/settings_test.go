package valkeysecurity

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/act"
	machine "github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// changed are settings in the words of a user, which servers put in words of their own.
var changed = map[string]string{
	"maxmemory-policy": "ALLKEYS-LRU", "hz": "25", "slowlog-log-slower-than": "20000", "proto-max-bulk-len": "256mb",
	"notify-keyspace-events": "KEA", "latency-tracking-info-percentiles": "50 95 99.9", "activedefrag": "no", "maxmemory-clients": "5%",
	"client-query-buffer-limit": "64mb", "list-max-listpack-size": "-3",
}

func (c *cluster) members(t *testing.T) (list []machine.Member) {
	t.Helper()
	for _, s := range c.servers {
		at := s.target(t)
		list = append(list, machine.Member{Pod: s.ip, Addr: at.Addr, ID: at.ID})
	}
	return list
}

// settled tries until all servers were heard.
func (c *cluster) settled(t *testing.T, settings map[string]string) (refusal *machine.Refusal) {
	t.Helper()
	c.eventually(t, func() error {
		err := act.Settle(t.Context(), c.client, c.members(t), settings)
		if errors.As(err, &refusal) {
			return nil
		}
		return err
	})
	return refusal
}

// Settings are changed while an application works. What a server refuses is in its own
// words, and keeps nothing else from being set.
func TestSettingsChangeUnderLoad(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		l := c.startLoad(t)
		if refusal := c.settled(t, changed); refusal != nil {
			t.Fatal(refusal)
		}
		c.have(t, changed)
		for directive, bad := range map[string]struct{ value, words string }{
			"maxmemory-policy":     {"least-loved", "argument(s) must be one of the following"},
			"hz":                   {"many", "argument couldn't be parsed into an integer"},
			"no-such-thing":        {"1", "Unknown option"},
			"tcp-backlog":          {"64", "can't set immutable config"},
			"active-expire-effort": {"11", "argument must be between"},
		} {
			wanted := maps.Clone(changed)
			wanted["slowlog-max-len"] = "77"
			wanted[directive] = bad.value
			refusal := c.settled(t, wanted)
			if refusal == nil || !strings.Contains(refusal.Words, directive+": ") || !strings.Contains(refusal.Words, bad.words) {
				t.Errorf("%s %s: %v", directive, bad.value, refusal)
			}
			c.have(t, map[string]string{"slowlog-max-len": "77"})
			if refusal := c.settled(t, map[string]string{"slowlog-max-len": "128"}); refusal != nil {
				t.Error(refusal)
			}
		}
		// Some are taken, and made into something else.
		if refusal := c.settled(t, map[string]string{"hz": "1000"}); refusal == nil || !strings.Contains(refusal.Words, `it has "500", and not "1000"`) {
			t.Errorf("hz 1000: %v", refusal)
		}
		l.check(t)
	})
}

// have asks every server.
func (c *cluster) have(t *testing.T, settings map[string]string) {
	t.Helper()
	for _, s := range c.servers {
		is, err := c.client.Settings(t.Context(), s.target(t), slices.Collect(maps.Keys(settings)))
		c.must(t, err)
		for name, value := range settings {
			if !machine.SameSetting(name, value, is[name]) {
				t.Errorf("%s has %s %q", s.ip, name, is[name])
			}
		}
	}
}

// ownedAtStart are settings that are read at the start, and that are not a user's to make.
var ownedAtStart = []string{
	"aclfile", "appenddirname", "appendfilename", "cluster-config-file", "cluster-databases", "cluster-enabled", "cluster-port", "daemonize", "databases",
	"enable-debug-command", "enable-module-command", "enable-protected-configs", "logfile", "pidfile", "repl-mptcp", "replicaof", "slaveof",
	"supervised", "syslog-enabled", "unixsocket", "unixsocketperm",
}

// Every setting that a server says it reads only at its start is known as such; and the
// settings of the file are those that a server which starts has.
func TestWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		at := c.servers[0].target(t)
		all, err := c.client.Settings(t.Context(), at, []string{"*"})
		c.must(t, err)
		if len(all) < 200 {
			t.Fatalf("the server has only %d settings", len(all))
		}
		for name, value := range all {
			if strings.Contains(name, "_") || slices.Contains(ownedAtStart, name) || strings.HasPrefix(name, "tls-") {
				continue // other spellings cannot be written into a spec
			}
			err := c.client.ConfigSet(t.Context(), at, map[string]string{name: value})
			fixed := errors.Is(err, wire.ErrRefused) && strings.Contains(wire.Words(err), "immutable")
			if fixed && !spec.NeedsRestart(name) {
				t.Errorf("%s is read only at the start", name)
			}
		}
		last := c.servers[5]
		last.kill()
		last.more = "\nhz 25\nmaxmemory-policy allkeys-lru\n"
		last.start(t)
		is, err := c.client.Settings(t.Context(), last.target(t), []string{"hz", "maxmemory-policy"})
		c.must(t, err)
		if is["hz"] != "25" || is["maxmemory-policy"] != "allkeys-lru" {
			text, _ := os.ReadFile(last.dir + ".conf")
			t.Errorf("started with %v by\n%s", is, text)
		}
	})
}
