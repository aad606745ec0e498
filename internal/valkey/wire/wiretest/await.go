package wiretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// await lets the servers talk until it has come to what is awaited.
func (s *play) await(ctx context.Context, words []string, named map[string][]string) error {
	return s.comesTo(ctx, s.Until, words, named)
}

func (s *play) comesTo(ctx context.Context, until func(context.Context, func() bool) error, words []string, named map[string][]string) error {
	came := false // once is enough: to be asked a second time a busy server may be too slow
	done := func() bool {
		came = came || s.holds(ctx, words, named)
		return came
	}
	if err := until(ctx, done); err != nil {
		return err
	}
	if !done() {
		return fmt.Errorf("await %v: %w", words, script.ErrStill)
	}
	return nil
}

// looks is how often it is looked in the time in which something must not happen.
const looks = 10

// never lets time pass in which something must not happen.
func (s *play) never(ctx context.Context, words []string, named map[string][]string) error {
	if len(named["for"]) != 1 {
		return script.ErrUnknown
	}
	d, err := time.ParseDuration(named["for"][0])
	if err != nil {
		return err
	}
	for range looks {
		if err := s.Elapse(ctx, d/looks); err != nil {
			return err
		}
		if s.holds(ctx, words, named) {
			return script.ErrAfterAll
		}
	}
	return nil
}

func (s *play) holds(ctx context.Context, words []string, named map[string][]string) bool {
	switch words[0] {
	case "met", "agree", "ok":
		return s.harmony(ctx, words[0], s.among(named))
	case "failed", "forgotten", "known":
		return s.opinion(ctx, words[0], words[1])
	case "listed":
		return s.listed(ctx, words[1])
	case "missed":
		return s.missed(ctx, s.one(words[1]))
	case "informed":
		return s.informed(ctx, s.one(words[1]))
	case "jobs":
		return s.ended(ctx, s.one(words[1]))
	}
	server, err := s.Ask(ctx, s.one(words[1]).Addr)
	return err == nil && s.is(ctx, words[0], server)
}

// missed says that nobody listens at a server, and that none of the others has a connection to it.
func (s *play) missed(ctx context.Context, of wire.Target) bool {
	if _, err := s.Ask(ctx, of.Addr); !errors.Is(err, wire.ErrConnectionRefused) {
		return false
	}
	for i, at := range s.targets {
		if s.dead[i] || at.ID == of.ID {
			continue
		}
		server, err := s.Ask(ctx, at.Addr)
		if err != nil {
			return false
		}
		if p, known := server.Peer(of.ID); known && p.Linked || server.Self().Follows == of.ID && server.Synced {
			return false
		}
	}
	return true
}

// ended says that a server has no job under way.
func (s *play) ended(ctx context.Context, at wire.Target) bool {
	jobs, err := s.Mover.SlotMigrations(ctx, at)
	return err == nil && !slices.ContainsFunc(jobs, func(j topology.SlotJob) bool { return !j.Ended() })
}

// is says what a server is by its own word.
func (s *play) is(ctx context.Context, what string, server *topology.Server) bool {
	self := server.Self()
	switch what {
	case "primary":
		return self.Follows == "" && self.Slots != ""
	case "replica":
		return self.Follows != "" && server.Synced && s.caughtUp(ctx, server)
	case "empty":
		return server.Empty
	}
	return false
}

// caughtUp says that a replica has all that its primary has.
func (s *play) caughtUp(ctx context.Context, replica *topology.Server) bool {
	for _, at := range s.targets {
		if at.ID == replica.Self().Follows {
			primary, err := s.Ask(ctx, at.Addr)
			return err == nil && primary.History == replica.History && replica.Offset >= primary.Offset
		}
	}
	return false
}

// informed says that a server sees all others that run in their roles and with their slots.
func (s *play) informed(ctx context.Context, at wire.Target) bool {
	server, err := s.Ask(ctx, at.Addr)
	if err != nil {
		return false
	}
	for i, of := range s.targets {
		if s.dead[i] || of.ID == at.ID {
			continue
		}
		other, err := s.Ask(ctx, of.Addr)
		if err != nil {
			return false
		}
		if p, _ := server.Peer(of.ID); p.Follows != other.Self().Follows || p.Slots != other.Self().Slots {
			return false
		}
	}
	return true
}

// opinion is what all others that run think of one.
func (s *play) opinion(ctx context.Context, what, number string) bool {
	of := s.one(number)
	for i, at := range s.targets {
		if s.dead[i] || strconv.Itoa(i) == number {
			continue
		}
		server, err := s.Ask(ctx, at.Addr)
		if err != nil {
			return false
		}
		p, listed := server.Peer(of.ID)
		known := listed && p.State != topology.Handshake
		if what == "failed" && p.State != topology.Failed || what == "known" && !known || what == "forgotten" && known {
			return false
		}
	}
	return true
}

// listed says that one of the others knows a server.
func (s *play) listed(ctx context.Context, number string) bool {
	of := s.one(number)
	return slices.ContainsFunc(s.targets, func(at wire.Target) bool {
		server, err := s.Ask(ctx, at.Addr)
		return err == nil && at != of && server.Knows(of.ID)
	})
}

// among are the servers that a condition is about: by default all that run.
func (s *play) among(named map[string][]string) (targets []wire.Target) {
	if list := named["among"]; list != nil {
		return s.numbered(list)
	}
	for i, at := range s.targets {
		if !s.dead[i] {
			targets = append(targets, at)
		}
	}
	return targets
}

func (s *play) harmony(ctx context.Context, what string, among []wire.Target) bool {
	nodes := make(topology.Nodes, 0, len(among))
	ok := true
	for i, at := range among {
		server, _ := s.Ask(ctx, at.Addr)
		nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: strconv.Itoa(i), Addr: at.Addr}, Server: server})
		ok = ok && server != nil && server.OK && server.Synced
	}
	switch what {
	case "met":
		_, ok = nodes.Met()
	case "agree":
		_, ok = nodes.Agree()
	}
	return ok
}
