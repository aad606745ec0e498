package wiretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

func (s *play) command(ctx context.Context, name string, words []string, named map[string][]string) (string, error) {
	words = append(words, "", "", "") // what is left out is empty
	switch name {
	case "await":
		return "", s.await(ctx, words, named)
	case "glimpse":
		return "", s.comesTo(ctx, s.Glimpse, words, named)
	case "never":
		return "", s.never(ctx, words, named)
	case "show":
		return s.show(ctx, s.numbered(words))
	case "timeout":
		server, err := s.Ask(ctx, s.one(words[0]).Addr)
		if err != nil {
			return "", err
		}
		return fmt.Sprintln(server.Timeout), nil
	case "keys", "jobs":
		return s.ask(ctx, name, words)
	case "form":
		return "", Form(ctx, s.Cluster)
	case "elapse":
		d, err := time.ParseDuration(words[0])
		return "", errors.Join(err, s.Elapse(ctx, d))
	case "kill", "start":
		return "", s.process(ctx, name, words)
	case "meet", "add-slots", "replicate", "mistake", "failover", "forget", "forget-slot-owner", "reset", "raise-epoch", "config":
		return "", s.tell(ctx, name, words, named)
	}
	return "", s.move(ctx, name, words)
}

// tell is the commands to one server about itself and others.
func (s *play) tell(ctx context.Context, name string, words []string, named map[string][]string) error {
	at, other := s.one(words[0]), s.one(words[1])
	switch name {
	case "meet":
		return s.Meet(ctx, at, s.numbered(words[1:]))
	case "add-slots":
		slots, err := topology.ParseSlots(words[1])
		return errors.Join(err, s.AddSlots(ctx, at, slots))
	case "replicate":
		return s.Replicate(ctx, at, other.ID)
	case "mistake":
		return s.Replicate(ctx, wire.Target{Addr: at.Addr, ID: other.ID}, at.ID)
	case "failover":
		return s.Failover(ctx, at, wire.FailoverMode(strings.ToUpper(words[1])))
	case "forget":
		return s.Forget(ctx, at, other.ID)
	case "forget-slot-owner":
		return s.ForgetSlotOwner(ctx, at, other.ID)
	case "raise-epoch":
		return s.raiseEpoch(ctx, at)
	case "reset":
		return s.reset(ctx, at, words[1] == "hard")
	case "config":
		return s.ConfigSet(ctx, at, settings(named))
	}
	return script.ErrUnknown
}

// settings are what is set, without what is said of versions.
func settings(named map[string][]string) map[string]string {
	out := map[string]string{}
	for name, values := range named {
		out[name] = values[0]
	}
	delete(out, "since")
	delete(out, "before")
	return out
}

// raiseEpoch raises it above the highest that the server has heard of.
func (s *play) raiseEpoch(ctx context.Context, at wire.Target) error {
	server, err := s.Ask(ctx, at.Addr)
	if err != nil {
		return err
	}
	return s.RaiseEpoch(ctx, at, server.Epoch)
}

// reset goes on with the ID that a hard one leaves behind.
func (s *play) reset(ctx context.Context, at wire.Target, hard bool) error {
	if err := s.Reset(ctx, at, hard); err != nil {
		return err
	}
	return s.rename(ctx, at.Addr, at.Addr)
}

// rename looks who answers now where a server was.
func (s *play) rename(ctx context.Context, was, is string) error {
	i := slices.IndexFunc(s.targets, func(t wire.Target) bool { return t.Addr == was })
	if i < 0 {
		return script.ErrUnknown
	}
	var server *topology.Server
	err := s.Until(ctx, func() (done bool) {
		server, _ = s.Ask(ctx, is)
		return server != nil
	})
	if err != nil || server == nil {
		return errors.Join(err, wire.ErrUnreachable)
	}
	s.targets[i] = wire.Target{Addr: is, ID: server.ID}
	s.ids[server.ID] = strconv.Itoa(i)
	return nil
}

// move is the commands about slots.
func (s *play) move(ctx context.Context, name string, words []string) error {
	at, to := s.one(words[0]), s.one(words[2])
	slots, err := topology.ParseSlots(words[1])
	if err != nil {
		return err
	}
	switch name {
	case "put":
		slot, _ := strconv.Atoi(words[1])
		keys, err := strconv.Atoi(words[2])
		return errors.Join(err, s.Mover.PutAt(ctx, at, slot, keys))
	case "importing":
		return s.Mover.SetSlotsImporting(ctx, at, slots, to.ID)
	case "migrating":
		return s.Mover.SetSlotsMigrating(ctx, at, slots, to.ID)
	case "node":
		return s.Mover.SetSlotsNode(ctx, at, slots, to.ID)
	case "stable":
		return s.Mover.SetSlotsStable(ctx, at, slots)
	case "migrate-keys":
		return s.migrateKeys(ctx, at, slots, to)
	case "migrate-slots":
		return s.migrateSlots(ctx, at, words[1:])
	case "cancel":
		return s.Mover.CancelSlotMigrations(ctx, at)
	}
	return script.ErrUnknown
}

// migrateSlots takes pairs of slots and the server that they go to.
func (s *play) migrateSlots(ctx context.Context, at wire.Target, words []string) error {
	var moves []wire.SlotsTo
	for i := 0; i+1 < len(words) && words[i] != ""; i += 2 {
		slots, err := topology.ParseSlots(words[i])
		if err != nil {
			return err
		}
		moves = append(moves, wire.SlotsTo{Slots: slots, To: s.one(words[i+1]).ID})
	}
	return s.Mover.MigrateSlots(ctx, at, moves)
}

func (s *play) migrateKeys(ctx context.Context, at wire.Target, slots topology.Slots, to wire.Target) error {
	m := wire.Migration{To: to.Addr, Within: time.Minute}
	for _, slot := range slots.List() {
		keys, err := s.Mover.KeysInSlot(ctx, at, slot, 1000)
		if err != nil {
			return err
		}
		m.Batches = append(m.Batches, keys)
	}
	return s.Mover.MigrateKeys(ctx, at, m)
}

// ask is the questions about slots.
func (s *play) ask(ctx context.Context, name string, words []string) (string, error) {
	at := s.one(words[0])
	var out []string
	if name == "jobs" {
		jobs, err := s.Mover.SlotMigrations(ctx, at)
		for _, j := range jobs {
			out = append(out, fmt.Sprintf("%s from %s to %s: %s", j.Slots, s.ids[j.Source], s.ids[j.Target], j.State))
		}
		slices.Sort(out)
		return script.Lines(out), err
	}
	slots, err := topology.ParseSlots(words[1])
	if err != nil {
		return "", err
	}
	counts, err := s.Mover.CountKeysInSlots(ctx, at, slots)
	for _, slot := range slots.List() {
		out = append(out, fmt.Sprintf("%d: %d", slot, counts[slot]))
	}
	if err != nil {
		return "", err
	}
	return script.Lines(out), nil
}

// process ends and starts servers.
func (s *play) process(ctx context.Context, name string, words []string) error {
	i, err := strconv.Atoi(words[0])
	if err != nil || i >= len(s.targets) {
		return script.ErrUnknown
	}
	if s.dead[i] = name == "kill"; s.dead[i] {
		return s.Kill(s.targets[i].Addr)
	}
	how := Restart{Forgets: slices.Contains(words, "forgets"), Empties: slices.Contains(words, "empties"), Moves: slices.Contains(words, "moves")}
	if words[1] == "mistakes" {
		how.MistakesForPrimary = s.one(words[2]).ID
	}
	addr, err := s.Start(s.targets[i].Addr, how)
	if err != nil {
		return err
	}
	return s.rename(ctx, s.targets[i].Addr, addr)
}
