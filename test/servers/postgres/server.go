package postgres

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Administrator is the role that may do everything.
const Administrator = "administrator"

// Server is a PostgreSQL that can be stopped and started again, with the same data and the same address.
type Server struct {
	t              testing.TB
	programs, data string
	port           int
	as             *syscall.Credential // nil is the user of the test
	process        *exec.Cmd
}

// Start starts a server with an empty database. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	programs, err := parts.Postgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, programs: programs, port: freePort(t)}
	s.as, err = parts.Unprivileged()
	s.must(err)
	s.data = s.directory()
	s.must(parts.InitPostgres(t.Context(), s.programs, s.data, Administrator, s.as))
	t.Cleanup(s.Stop)
	s.Up()
	return s
}

// directory is one that the server's user can enter; what t.TempDir makes belongs to the test's user alone.
func (s *Server) directory() string {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "statecraft-postgres-")
	s.must(err)
	s.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if s.as != nil {
		s.must(os.Chown(dir, int(s.as.Uid), int(s.as.Gid)))
	}
	return filepath.Join(dir, "data")
}

// DSN is a connection string for a role.
func (s *Server) DSN(role string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", role, s.port)
}

// Up starts the server, and returns once it answers.
func (s *Server) Up() {
	s.t.Helper()
	s.process = s.command("postgres", parts.PostgresArgs(s.data, s.port, 40)...)
	log, err := os.OpenFile(filepath.Join(filepath.Dir(s.data), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	s.must(err)
	s.process.Stdout, s.process.Stderr = log, log
	s.must(s.process.Start())
	s.must(log.Close())
	s.answers()
}

// Stop ends the server as a crash would: what was not committed is lost, and no answer is sent.
func (s *Server) Stop() {
	s.t.Helper()
	if s.process == nil {
		return
	}
	s.must(s.process.Process.Signal(syscall.SIGQUIT))
	_ = s.process.Wait() // it says that it was told to
	s.process = nil
}

// Connect is a connection of a role. It ends with the test.
func (s *Server) Connect(role string) *pgx.Conn {
	s.t.Helper()
	c, err := pgx.Connect(s.t.Context(), s.DSN(role))
	s.must(err)
	s.t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err == nil {
		return
	}
	log, _ := os.ReadFile(filepath.Join(filepath.Dir(s.data), "log"))
	s.t.Fatalf("%v\n%s", err, log[max(0, len(log)-4000):])
}

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), filepath.Join(s.programs, program), args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Credential: s.as}
	return cmd
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only the number was wanted
	return l.Addr().(*net.TCPAddr).Port
}
