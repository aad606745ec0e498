package wiretest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

func (s *play) show(ctx context.Context, targets []wire.Target) (string, error) {
	var b strings.Builder
	for _, at := range targets {
		server, err := s.Ask(ctx, at.Addr)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s: %s\n", s.ids[at.ID], s.words(server))
	}
	return b.String(), nil
}

func (s *play) words(server *topology.Server) string {
	role, sees := "primary", make([]string, 0, len(server.View))
	if f := server.Self().Follows; f != "" {
		role = "replica of " + s.ids[f]
	}
	for _, p := range server.View {
		if p.State == topology.Handshake {
			continue
		}
		words := s.ids[p.ID]
		if p.Follows != "" {
			words += " of " + s.ids[p.Follows]
		}
		if p.Slots != "" {
			words += " with " + string(p.Slots)
		}
		sees = append(sees, words)
	}
	slices.Sort(sees)
	text := fmt.Sprintf("%s, shard %s, empty %t; sees %s", role, s.shard(server), server.Empty, strings.Join(sees, ", "))
	for _, o := range server.Open {
		way := "to"
		if o.Importing {
			way = "from"
		}
		text += fmt.Sprintf("; slot %d %s %s", o.Slot, way, s.ids[o.Peer])
	}
	return text
}

func (s *play) shard(server *topology.Server) string {
	var members []string
	for _, p := range server.View {
		if p.Shard == server.Self().Shard && p.State != topology.Handshake {
			members = append(members, s.ids[p.ID])
		}
	}
	slices.Sort(members)
	return strings.Join(members, "+")
}
