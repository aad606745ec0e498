package valkeynode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

// server is one place in which a server runs now and then.
type server struct {
	*cluster
	name string
	ip   string
	dir  string
	cmd  *exec.Cmd
	// written is how long the log was when the server was last started.
	written int64
}

func (s *server) addr() string  { return net.JoinHostPort(s.ip, s.port) }
func (s *server) nodes() string { return filepath.Join(s.dir, "nodes.conf") }

// configure writes what a ConfigMap would hold, for the address of this server.
func (s *server) configure(t testing.TB) {
	t.Helper()
	log := "no"
	if s.persistent {
		log = "yes"
	}
	text := fmt.Sprintf("port %s\ncluster-port %s\nbind %s\ndir %s\nsave \"\"\nappendonly %s\nprotected-mode no\n"+
		"cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout %d\ncluster-allow-replica-migration no\n"+
		"cluster-require-full-coverage no\nrepl-diskless-sync-delay 0\n",
		s.port, s.busPort, s.ip, s.dir, log, s.nodeTimeout.Milliseconds())
	if err := os.WriteFile(s.dir+".conf", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs the server by the program that is tried.
func (s *server) start(t testing.TB) { s.startWith(t) }

func (s *server) startWith(t testing.TB, flags ...string) {
	t.Helper()
	s.configure(t)
	peers := make([]string, 0, len(s.servers))
	for _, o := range s.servers {
		peers = append(peers, o.addr())
	}
	s.execute(t, s.node, append([]string{"run", "--server", s.program, "--config", s.dir + ".conf", "--rendered", s.dir + ".rendered.conf",
		"--announce-ip", s.ip, "--peers", strings.Join(peers, ",")}, flags...)...)
}

// startBare runs the server without that program.
func (s *server) startBare(t testing.TB) {
	t.Helper()
	s.configure(t)
	s.execute(t, s.program, s.dir+".conf", "--cluster-announce-ip", s.ip)
}

func (s *server) execute(t testing.TB, program string, args ...string) {
	t.Helper()
	log, err := os.OpenFile(s.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	info, err := log.Stat()
	if err != nil {
		t.Fatal(err)
	}
	s.written = info.Size()
	s.cmd = exec.Command(program, args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process without a word to it, if it runs.
func (s *server) kill() { s.end(syscall.SIGKILL) }

func (s *server) end(signal os.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(signal)
	_ = s.cmd.Wait()
	s.cmd = nil
}

// exited is the code with which the process ended by itself.
func (s *server) exited(t testing.TB) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		s.cmd = nil
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	case <-time.After(timeout.Wait):
		t.Fatalf("%s still runs after %s", s.name, timeout.Wait)
		return 0
	}
}

// loseData removes what the server keeps of its keys.
func (s *server) loseData(t testing.TB) {
	t.Helper()
	for _, name := range []string{"appendonlydir", "dump.rdb"} {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// do sends one command.
func (s *server) do(ctx context.Context, words ...string) (valkey.ValkeyMessage, error) {
	c, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: []string{s.addr()}, ForceSingleClient: true, DisableCache: true, DisableRetry: true, AlwaysRESP2: true,
		Dialer: net.Dialer{Timeout: timeout.Command}, ConnWriteTimeout: timeout.Command, ClientSetInfo: valkey.DisableClientSetInfo,
	})
	if err != nil {
		return valkey.ValkeyMessage{}, err
	}
	defer c.Close()
	return c.Do(ctx, c.B().Arbitrary(words...).Build()).ToMessage()
}

// keys is how many keys the server says it has; -1 if it says nothing.
func (s *server) keys(ctx context.Context) int64 {
	reply, err := s.do(ctx, "DBSIZE")
	if err != nil {
		return -1
	}
	n, err := reply.AsInt64()
	if err != nil {
		return -1
	}
	return n
}

// said is what the program that is tried wrote to the log since its last start.
func (s *server) said(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.dir + ".log")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for line := range strings.Lines(string(text[s.written:])) {
		if words, is := strings.CutPrefix(line, "statecraft-valkey-node: "); is {
			said = append(said, strings.TrimSpace(words))
		}
	}
	return strings.Join(said, "; ")
}
