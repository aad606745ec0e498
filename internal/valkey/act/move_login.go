package act

import (
	"context"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// agreed lets keys be sent with a password that their target takes: while passwords are
// being changed that may be the newest or the one before, and only the target knows.
func (m *mover) agreed(ctx context.Context, send wire.Migration, at wire.Target) (wire.Migration, error) {
	keyed, is := m.servers.(Keyed)
	if !is {
		return send, nil
	}
	passwords := keyed.Keys().Secrets.Replication
	if len(passwords) < 2 {
		return send, nil
	}
	server, err := keyed.AskAccess(ctx, at)
	if err != nil {
		return send, err
	}
	for _, p := range passwords {
		if server.Knows(access.Replication, p.Hash()) {
			send.Password = p.Reveal()
			break
		}
	}
	return send, nil
}
