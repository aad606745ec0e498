package wiretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Cluster is a number of blank servers to run one script on.
type Cluster struct {
	wire.Reader
	wire.Writer
	Addrs []string
	// Until lets the servers talk until done says so, or nothing more happens.
	Until func(ctx context.Context, done func() bool) error
}

// Servers is how many servers a script may use.
const Servers = 6

// Run runs every script in dir, each on a cluster of its own.
//
//	meet 0 1 2         server 0 introduces itself to 1 and 2
//	add-slots 0 0-99   server 0 takes slots
//	replicate 3 0      server 3 follows server 0
//	mistake 0 1        server 0 is told something that is meant for server 1
//	await met|agree|ok among=(0,1)
//	show 0 1           what these servers say, by number instead of ID
func Run(t *testing.T, dir string, start func(t *testing.T) Cluster) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		s := &script{Cluster: start(t), ids: map[string]string{}}
		for i, addr := range s.Addrs {
			server, err := s.Ask(t.Context(), addr)
			if err != nil {
				t.Fatal(err)
			}
			s.ids[server.ID] = strconv.Itoa(i)
			s.targets = append(s.targets, wire.Target{Addr: addr, ID: server.ID})
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.command(t.Context(), d)
			if err != nil {
				return "error: " + kind(err) + "\n"
			}
			return out
		})
	})
}

type script struct {
	Cluster
	targets []wire.Target
	ids     map[string]string // from ID to number
}

func (s *script) command(ctx context.Context, d *datadriven.TestData) (string, error) {
	args := make([]string, 0, len(d.CmdArgs))
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			args = append(args, a.Key)
		}
	}
	switch d.Cmd {
	case "meet":
		var addrs []string
		for _, to := range s.numbered(args[1:]) {
			addrs = append(addrs, to.Addr)
		}
		return "", s.Meet(ctx, s.numbered(args)[0], addrs)
	case "add-slots":
		slots, err := topology.ParseSlots(args[1])
		return "", errors.Join(err, s.AddSlots(ctx, s.numbered(args[:1])[0], slots))
	case "replicate":
		two := s.numbered(args)
		return "", s.Replicate(ctx, two[0], two[1].ID)
	case "mistake":
		two := s.numbered(args)
		return "", s.Replicate(ctx, wire.Target{Addr: two[0].Addr, ID: two[1].ID}, two[0].ID)
	case "await":
		return "", s.await(ctx, args[0], s.among(d))
	case "show":
		return s.show(ctx, s.numbered(args))
	}
	return "", fmt.Errorf("unknown command %s", d.Cmd)
}

func (s *script) numbered(args []string) (targets []wire.Target) {
	for _, a := range args {
		if i, err := strconv.Atoi(a); err == nil && i < len(s.targets) {
			targets = append(targets, s.targets[i])
		}
	}
	return targets
}

func (s *script) among(d *datadriven.TestData) []wire.Target {
	for _, a := range d.CmdArgs {
		if a.Key == "among" {
			return s.numbered(a.Vals)
		}
	}
	return s.targets
}

// await lets the servers talk until these see what is awaited.
func (s *script) await(ctx context.Context, what string, among []wire.Target) error {
	done := func() bool {
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
	if err := s.Until(ctx, done); err != nil {
		return err
	}
	if !done() {
		return fmt.Errorf("await %s: %w", what, errStill)
	}
	return nil
}

var errStill = errors.New("it does not come to that")

func (s *script) show(ctx context.Context, targets []wire.Target) (string, error) {
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

func (s *script) words(server *topology.Server) string {
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
	return fmt.Sprintf("%s, shard %s, empty %t; sees %s", role, s.shard(server), server.Empty, strings.Join(sees, ", "))
}

func (s *script) shard(server *topology.Server) string {
	var members []string
	for _, p := range server.View {
		if p.Shard == server.Self().Shard && p.State != topology.Handshake {
			members = append(members, s.ids[p.ID])
		}
	}
	slices.Sort(members)
	return strings.Join(members, "+")
}

// kind is the type of an error: its text is the server's.
func kind(err error) string {
	for _, k := range []error{wire.ErrUnreachable, wire.ErrOtherServer, wire.ErrLoading, wire.ErrDenied,
		wire.ErrUnknownPeer, wire.ErrNotBlank, wire.ErrRefused, wire.ErrMalformed, errStill} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return err.Error()
}
