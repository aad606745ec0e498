package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// settler is servers by address, that refuse some values and make others into something else.
type settler struct {
	has    map[string]map[string]string
	silent string
	told   int
}

func (s *settler) Settings(_ context.Context, at wire.Target, names []string) (map[string]string, error) {
	if at.Addr == s.silent {
		return nil, wire.ErrUnreachable
	}
	is := map[string]string{}
	for _, name := range names {
		is[name] = s.has[at.Addr][name]
	}
	return is, nil
}

func (s *settler) ConfigSet(_ context.Context, at wire.Target, settings map[string]string) error {
	s.told++
	for name, value := range settings {
		switch {
		case value == "bad":
			return fmt.Errorf("send CONFIG to %s: %w: argument must be good", at.Addr, wire.ErrRefused)
		case value == "1000":
			value = "500"
		}
		s.has[at.Addr][name] = value
	}
	return nil
}

// What a server refuses keeps nothing else from being set, and is told in its own words.
func TestSettle(t *testing.T) {
	members := []cluster.Member{{Pod: "web-0-0", Addr: "a"}, {Pod: "web-0-1", Addr: "b"}}
	for name, c := range map[string]struct {
		wanted map[string]string
		silent string
		words  string // of the refusal
		told   int
		hz     string
	}{
		"they have it":              {wanted: map[string]string{"hz": "10"}, hz: "10"},
		"another value":             {wanted: map[string]string{"hz": "20"}, told: 2, hz: "20"},
		"one is refused":            {wanted: map[string]string{"aof": "bad", "hz": "20"}, words: "web-0-0: aof: argument must be good", told: 4, hz: "20"},
		"the last is refused":       {wanted: map[string]string{"aof": "2", "hz": "bad"}, words: "web-0-0: hz: argument must be good", told: 4, hz: "10"},
		"it becomes something else": {wanted: map[string]string{"hz": "1000"}, words: `web-0-0: hz: it has "500", and not "1000"`, told: 2, hz: "500"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &settler{has: map[string]map[string]string{"a": {"hz": "10"}, "b": {"hz": "10"}}}
			var refusal *cluster.Refusal
			err := settleOneByOne(t, s, members, c.wanted)
			if (c.words == "") != (err == nil) || c.words != "" && (!errors.As(err, &refusal) || refusal.Words != c.words) {
				t.Errorf("error %v", err)
			}
			if s.told != c.told || s.has["b"]["hz"] != c.hz {
				t.Errorf("told %d times, hz %s", s.told, s.has["b"]["hz"])
			}
		})
	}
	s := &settler{has: map[string]map[string]string{"a": {}, "b": {}}, silent: "b"}
	if err := settleOneByOne(t, s, members, map[string]string{"hz": "1"}); !errors.Is(err, wire.ErrUnreachable) || strings.Contains(err.Error(), "refuses") {
		t.Errorf("a silent server: %v", err)
	}
}

// settleOneByOne: the servers of this test are maps, which do not bear it side by side.
func settleOneByOne(t *testing.T, s *settler, members []cluster.Member, wanted map[string]string) (first error) {
	t.Helper()
	for _, m := range members {
		if err := Settle(t.Context(), s, []cluster.Member{m}, wanted); err != nil && first == nil {
			first = err
		}
	}
	return first
}
