package nodesconf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDisplace(t *testing.T) {
	gone := idb + " :0@0,,tls-port=0,shard-id=" + shard1 + " slave,noaddr " + ida + " 0 1700000000000 7 connected\n"
	for name, c := range map[string]struct {
		addr, want string
		changed    []string
	}{
		"its own address":      {"127.0.1.1:6379", lineA + lineB + lineC + lineD + vars, nil},
		"an address of nobody": {"127.0.1.9:6379", lineA + lineB + lineC + lineD + vars, nil},
		"no address":           {"", lineA + lineB + lineC + lineD + vars, nil},
		"another's address":    {"127.0.1.2:6379", lineA + gone + lineC + lineD + vars, []string{idb}},
		"another's, as IPv6": {"[fd00::3]:6379", lineA + lineB +
			strings.Replace(strings.Replace(lineC, "[fd00::3]:6379@16379", ":0@0", 1), " master ", " master,noaddr ", 1) + lineD + vars, []string{idc}},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed := Displace(lineA+lineB+lineC+lineD+vars, c.addr)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.changed, changed); diff != "" {
				t.Errorf("changed (-want +got):\n%s", diff)
			}
			if _, err := Parse(got); err != nil {
				t.Error(err)
			}
		})
	}
}
