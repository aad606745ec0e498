package valkeysecurity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// server is one place in which a server runs now and then.
type server struct {
	*cluster
	ip      string
	dir     string
	running func() // kills the server; nil while it does not run
	more    string // further lines of its configuration
}

func (s *server) addr() string     { return net.JoinHostPort(s.ip, port) }
func (s *server) usersDir() string { return s.dir + ".users" }
func (s *server) tlsDir() string   { return s.dir + ".tls" }

// mount writes what Secrets hold now to where the server finds it.
func (s *server) mount(t testing.TB) {
	t.Helper()
	if err := s.deliver(); err != nil {
		t.Fatal(err)
	}
}

// deliver replaces directories as a whole, as a kubelet does.
func (s *server) deliver() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir, files := range map[string]map[string]string{s.usersDir(): s.users, s.tlsDir(): s.tls} {
		fresh, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".")
		if err != nil {
			return err
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(fresh, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		before, _ := os.Readlink(dir)
		if err := errors.Join(os.Symlink(fresh, fresh+".link"), os.Rename(fresh+".link", dir), os.RemoveAll(before)); err != nil {
			return err
		}
	}
	return nil
}

// configure writes what a ConfigMap would hold, for the address of this server.
func (s *server) configure(t testing.TB) {
	t.Helper()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("port %s\nbind %s\ndir %s\nsave \"\"\nappendonly no\nprotected-mode no\n"+
		"cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout %d\ncluster-allow-replica-migration no\n"+
		"cluster-require-full-coverage no\nrepl-diskless-sync-delay 0\nrepl-backlog-size 16mb\n%s",
		port, s.ip, s.dir, nodeTimeout.Milliseconds(), s.more)
	if err := os.WriteFile(s.dir+".conf", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs the server as a pod would.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.configure(t)
	peers := make([]string, 0, len(s.servers))
	for _, o := range s.servers {
		peers = append(peers, o.addr())
	}
	log, err := os.OpenFile(s.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	command := append([]string{s.node, "run", "--server", s.program, "--config", s.dir + ".conf",
		"--announce-ip", s.ip, "--peers", strings.Join(peers, ",")}, s.access()...)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.running = func() { end(); <-ended }
	go func() {
		defer close(ended)
		defer func() { _ = log.Close() }()
		keepRunning(ctx, log, command)
	}()
}

// keepRunning starts what ended by itself again, as a kubelet does: a server that starts while its Secret is
// being replaced may read the old certificate and the new key, and ends.
func keepRunning(ctx context.Context, log io.Writer, command []string) {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := cmd.Run()
		select {
		case <-ctx.Done():
		case <-again.C:
			_, _ = fmt.Fprintf(log, "the server ended (%v) and is started again\n", err)
		}
	}
}

// access is how the program beside the server is told to log on.
func (s *server) access() []string {
	return []string{"--users-dir", s.usersDir(), "--tls-dir", s.tlsDir(), "--tls-server-name", serverName}
}

// tell runs another command of that program.
func (s *server) tell(command string, flags ...string) (said string, err error) {
	out, err := exec.Command(s.node, slices.Concat([]string{command, "--addr", s.addr()}, s.access(), flags)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// kill ends the process without a word to it, if it runs.
func (s *server) kill() {
	if s.running != nil {
		s.running()
		s.running = nil
	}
}

// target names the server as it is called now.
func (s *server) target(t testing.TB) (at wire.Target) {
	t.Helper()
	return s.named(t, s.client)
}

// named asks the server for its name.
func (s *server) named(t testing.TB, client *wire.Client) (at wire.Target) {
	t.Helper()
	s.eventually(t, func() error {
		is, err := client.Ask(t.Context(), s.addr())
		if err == nil {
			at = wire.Target{Addr: s.addr(), ID: is.ID}
		}
		return err
	})
	return at
}
