package node

import (
	"errors"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// What servers say of themselves.
const (
	primary = "loading:0\nrole:master"
	inStep  = "loading:0\nrole:slave\nmaster_link_status:up"
	noLink  = "loading:0\nrole:slave\nmaster_link_status:down\nmaster_sync_in_progress:0\nmaster_link_down_since_seconds:-1"
	copying = "loading:0\nrole:slave\nmaster_link_status:down\nmaster_sync_in_progress:1\nmaster_link_down_since_seconds:-1"
	lost    = "loading:0\nrole:slave\nmaster_link_status:down\nmaster_sync_in_progress:0\nmaster_link_down_since_seconds:4"
)

func TestReadiness(t *testing.T) {
	formed, owner := standing{formed: true}, standing{formed: true, slots: true}
	for name, c := range map[string]struct {
		info  string
		own   standing
		ready bool
	}{
		"a primary":                               {primary, standing{}, true},
		"a primary that reads its data":           {"loading:1\nrole:master", owner, false},
		"a replica in step":                       {inStep, formed, true},
		"a replica that reads its data":           {"loading:1\nrole:slave\nmaster_link_status:up", formed, false},
		"a replica that never had a link":         {noLink, standing{}, true},
		"a replica in its first copy":             {copying, standing{}, false},
		"a replica that lost its primary":         {lost, standing{}, false},
		"an answer without what was asked":        {"", standing{}, false},
		"something else":                          {"loading:0\nrole:sentinel", standing{}, false},
		"formed: a primary with slots":            {primary, owner, true},
		"formed: a newborn":                       {primary, formed, false},
		"formed: a replica that never had a link": {noLink, formed, false},
	} {
		t.Run(name, func(t *testing.T) {
			words, err := readiness(wire.ParseInfo(c.info), c.own)
			if (err == nil) != c.ready || (words == "") == c.ready || err != nil && !errors.Is(err, ErrNotReady) {
				t.Errorf("%q, %v", words, err)
			}
		})
	}
}
