package act

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

// Keys are sent with what their target takes, in the middle of a change, too.
func TestKeysAreSentWithWhatTheTargetTakes(t *testing.T) {
	both := []access.Password{access.NewPassword("new"), access.NewPassword("old")}
	for name, c := range map[string]struct {
		target []access.Password
		want   string
	}{
		"it knows the one before":  {both[1:], "old"},
		"it knows both":            {both, "new"},
		"it knows only the newest": {both[:1], "new"},
	} {
		t.Run(name, func(t *testing.T) {
			servers := fake.New()
			servers.Mount(access.Secrets{Operator: both, Replication: c.target}, access.Material{})
			at := wire.Target{Addr: "t", ID: servers.Start("t", "8.1.1")}
			m := &mover{servers: keyed{Movers: servers, Accessor: servers, secrets: access.Secrets{Replication: both}}}
			send, err := m.agreed(t.Context(), m.sender("t"), at)
			if err != nil || send.Password != c.want {
				t.Errorf("with %q, %v", send.Password, err)
			}
		})
	}
}
