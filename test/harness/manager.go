// Package harness installs the product on a bed and runs its manager as a process
// of its own, with the rights that its own manifests grant, so that tests can kill it.
package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// SystemNamespace is where the product lives.
const SystemNamespace = "statecraft-system"

// User is who the manager of an area is to the API server.
func User(area string) string {
	return "system:serviceaccount:" + SystemNamespace + ":statecraft-" + area
}

// Manager is the manager process of one area.
type Manager struct {
	t    testing.TB
	bed  *bed.Bed
	area string
	args []string

	mu     sync.Mutex
	cmd    *exec.Cmd
	wanted bool
	ended  chan struct{}
}

// NewManager installs an area on a bed and prepares its manager. The process is
// stopped when the test ends.
func NewManager(t testing.TB, b *bed.Bed, area string, args ...string) *Manager {
	t.Helper()
	Install(t, b, area)
	m := &Manager{t: t, bed: b, area: area, args: args}
	t.Cleanup(func() {
		m.Stop() // the manager of the next test need not wait for the end of its election
		if t.Failed() {
			t.Logf("log of the manager:\n%s", m.logTail())
		}
	})
	return m
}

// startsAgainAfter is what a manager that ended by itself waits for: it does when it loses its election.
const startsAgainAfter = time.Second

// Start starts the process, and again if it ends by itself, as Kubernetes would.
// Elections are short, so that a killed leader is replaced within seconds; effects
// still fit between deadline and expiry.
func (m *Manager) Start() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wanted {
		m.t.Fatal("the manager runs already")
	}
	m.wanted, m.ended = true, make(chan struct{})
	if err := m.run(); err != nil {
		m.t.Fatal(err)
	}
	go m.keep(m.cmd, m.ended)
}

// keep waits for the end of a process, and starts another if it was not wanted.
func (m *Manager) keep(cmd *exec.Cmd, ended chan struct{}) {
	defer close(ended)
	for {
		_ = cmd.Wait() // how it ended is in its log
		m.mu.Lock()
		wanted := m.wanted
		m.mu.Unlock()
		if !wanted {
			return
		}
		<-time.After(startsAgainAfter)
		m.mu.Lock()
		if !m.wanted {
			m.mu.Unlock()
			return
		}
		err := m.run()
		cmd = m.cmd
		m.mu.Unlock()
		if err != nil {
			m.t.Errorf("start the manager again: %v", err)
			return
		}
	}
}

func (m *Manager) run() error {
	kubeconfig, err := m.bed.KubeconfigFor(User(m.area), "system:serviceaccounts", "system:serviceaccounts:"+SystemNamespace)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(m.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	args := append([]string{
		"--kubeconfig=" + kubeconfig, "--areas=" + m.area,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--lease-duration=7s", "--renew-deadline=2s", "--retry-period=500ms",
	}, m.args...)
	m.cmd = exec.Command(binary(m.t, m.bed), args...)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return m.cmd.Start()
}

// Kill ends the process at once, as a crash does.
func (m *Manager) Kill() { m.end(syscall.SIGKILL) }

// Stop lets the process end by itself; it gives its election back.
func (m *Manager) Stop() { m.end(syscall.SIGTERM) }

func (m *Manager) end(sig syscall.Signal) {
	m.mu.Lock()
	if !m.wanted {
		m.mu.Unlock()
		return
	}
	m.wanted = false
	if err := m.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		m.t.Errorf("signal the manager: %v", err)
	}
	m.mu.Unlock()
	<-m.ended
}

func (m *Manager) logPath() string { return filepath.Join(m.bed.Dir(), "manager-"+m.area+".log") }

// Log is what the process has said so far.
func (m *Manager) Log() string {
	m.t.Helper()
	log, err := os.ReadFile(m.logPath())
	if err != nil {
		m.t.Fatal(err)
	}
	return string(log)
}

func (m *Manager) logTail() string {
	const most = 6000
	log, err := os.ReadFile(m.logPath())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-most):])
}

// binary builds the manager once per bed, into the bed's directory, which goes with it.
func binary(t testing.TB, b *bed.Bed) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	path := filepath.Join(b.Dir(), "statecraft-manager")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	out, err := exec.Command("go", "build", "-o", path, "github.com/statecraft-dev/statecraft/cmd/statecraft-manager").CombinedOutput()
	if err != nil {
		t.Fatalf("build the manager: %v\n%s", err, out)
	}
	return path
}

var building sync.Mutex
