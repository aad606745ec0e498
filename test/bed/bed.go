package bed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/audit"
	"github.com/statecraft-dev/statecraft/test/bed/internal/pki"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// KeepEnv names the environment variable that, when set, makes Stop leave the bed's directory with its logs.
const KeepEnv = "STATECRAFT_BED_KEEP"

// stopTimeout bounds Stop: what has not died of SIGKILL by then is stuck in the kernel.
const stopTimeout = 30 * time.Second

// Bed is a running cluster.
type Bed struct {
	dir       string
	layout    layout
	programs  map[string]string // part → directory of its programs
	authority *pki.Authority
	auditing  auditing
	audit     *audit.Log
	nodeInit  string // the program that is process 1 of a node
	nodes     []*Node
	without   []string // controllers that do not run
	nodeGrace time.Duration
	csi       *CSIDriver

	flightControl *FlightControlServer

	mu      sync.Mutex
	servers []*process.Process
	undo    []func(context.Context) error // what Stop does, last one first
}

// Start brings up a cluster of the given parts and returns once it is usable. What is missing in the cache is
// built first. If anything goes wrong nothing is left running and the error carries the ends of the logs.
func Start(ctx context.Context, wanted ...Part) (*Bed, error) {
	dir, err := os.MkdirTemp("", "statecraft-bed-")
	if err != nil {
		return nil, fmt.Errorf("make directory of bed: %w", err)
	}
	return StartIn(ctx, dir, wanted...)
}

// StartIn is Start with the bed's files in a directory of the caller's choice, which Stop removes.
func StartIn(ctx context.Context, dir string, wanted ...Part) (*Bed, error) {
	logs, err := newAuditing(dir)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		b := &Bed{dir: dir, programs: map[string]string{}, auditing: logs}
		err := b.bringUp(ctx, inOrder(wanted))
		if err == nil {
			return b, nil
		}
		err = fmt.Errorf("start bed: %w", errors.Join(err, b.Stop()))
		if attempt == portAttempts || !portTaken(err) {
			return nil, err
		}
	}
}

// portAttempts is how often other ports are tried: between the moment a port is found free and the moment a
// server listens on it, another process may take it.
const portAttempts = 3

func portTaken(err error) bool {
	return errors.Is(err, process.ErrExited) && strings.Contains(err.Error(), "address already in use")
}

// inOrder puts the control plane first, since everything else talks to it, and storage last, since its driver runs
// on a node if there is one.
func inOrder(wanted []Part) []Part {
	ordered := []Part{ControlPlane}
	var last []Part
	for _, part := range wanted {
		switch part.name {
		case ControlPlane.name:
		case CSI.name:
			last = []Part{part}
		default:
			ordered = append(ordered, part)
		}
	}
	return append(ordered, last...)
}

func (b *Bed) bringUp(ctx context.Context, wanted []Part) error {
	if err := os.MkdirAll(b.path("log"), 0o755); err != nil {
		return fmt.Errorf("make directory of logs: %w", err)
	}
	for _, part := range wanted {
		if err := b.build(ctx, part); err != nil {
			return err
		}
	}
	layout, err := newLayout()
	if err != nil {
		return err
	}
	b.layout = layout
	for _, part := range wanted {
		if part.prepare == nil {
			continue
		}
		if err := part.prepare(ctx, b); err != nil {
			return fmt.Errorf("prepare %s: %w", part.name, err)
		}
	}
	for _, part := range wanted {
		if err := part.start(ctx, b); err != nil {
			return fmt.Errorf("start %s: %w", part.name, err)
		}
	}
	return nil
}

func (b *Bed) build(ctx context.Context, part Part) error {
	for _, name := range part.built {
		dir, err := parts.Dir(ctx, name)
		if err != nil {
			return err
		}
		b.programs[name] = dir
	}
	return nil
}

// Stop ends every process of the bed and removes what it made. It may be called more than once.
func (b *Bed) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	b.mu.Lock()
	undo := b.undo
	b.servers, b.undo = nil, nil
	b.mu.Unlock()
	var errs []error
	for _, step := range slices.Backward(undo) {
		errs = append(errs, step(ctx))
	}
	if os.Getenv(KeepEnv) == "" {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	return errors.Join(errs...)
}

// Dir is the directory of everything the bed keeps: logs, certificates, data.
func (b *Bed) Dir() string { return b.dir }

// Log is the path of a server's log, for example Log("kube-apiserver").
func (b *Bed) Log(name string) string { return b.path("log", name+".log") }

func (b *Bed) path(elements ...string) string {
	return filepath.Join(append([]string{b.dir}, elements...)...)
}

func (b *Bed) program(part, name string) string { return filepath.Join(b.programs[part], name) }

// run starts a server that lives as long as the bed.
func (b *Bed) run(command process.Command) (*process.Process, error) {
	server, err := process.Start(command, b.path("log"))
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(b.servers, server)
	b.undo = append(b.undo, server.Kill)
	go b.report(server)
	return server, nil
}

// report says at once that a server has ended on its own: the test that leans on it would only see timeouts.
func (b *Bed) report(server *process.Process) {
	<-server.Done()
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.servers, server) {
		fmt.Fprintln(os.Stderr, "bed:", server.Check())
	}
}

// end ends a server ahead of the others.
func (b *Bed) end(ctx context.Context, server *process.Process) error {
	b.mu.Lock()
	b.servers = slices.DeleteFunc(b.servers, func(s *process.Process) bool { return s == server })
	b.mu.Unlock()
	return server.Kill(ctx)
}

// onStop adds a step to Stop, which takes the steps in reverse.
func (b *Bed) onStop(step func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.undo = append(b.undo, step)
}

// healthy returns an error if any server has ended.
func (b *Bed) healthy() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, server := range b.servers {
		if err := server.Check(); err != nil {
			return err
		}
	}
	return nil
}

// PIDs are the ids of the bed's servers by name. A node is there by its process 1, with which all of it ends.
func (b *Bed) PIDs() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make(map[string]int, len(b.servers))
	for _, server := range b.servers {
		ids[server.Name] = server.PID()
	}
	b.csi.pids(ids)
	b.flightControl.pids(ids)
	return ids
}
