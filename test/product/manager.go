// Package product runs the program of any area as a process of its own, with the rights that
// its own manifests grant, so that tests can kill it.
package product

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// Manager is the process that runs the controllers of one area.
type Manager struct {
	t    testing.TB
	bed  *bed.Bed
	area areas.Area
	args []string

	kubeconfig string // of the area's own account

	mu     sync.Mutex
	cmd    *exec.Cmd
	wanted bool
	ended  chan struct{}
}

// NewManager installs an area on a bed and prepares its manager. The process is
// stopped when the test ends.
func NewManager(t testing.TB, b *bed.Bed, area string, args ...string) *Manager {
	t.Helper()
	harness.Install(t, b, area)
	m := &Manager{t: t, bed: b, area: find(t, area), args: append(harness.Args(area), args...)}
	m.kubeconfig = kubeconfigOf(t, b, area)
	t.Cleanup(func() {
		m.Stop() // the manager of the next test need not wait for the end of its election
		if t.Failed() {
			t.Logf("log of the manager:\n%s", m.logTail())
		}
	})
	return m
}

// kubeconfigOf is that of an area's own account: by a certificate, which ends with the bed, or, where the policies of the area
// want its manager to be a pod, by a token of one.
func kubeconfigOf(t testing.TB, b *bed.Bed, area string) string {
	t.Helper()
	if area == "remediation" {
		return harness.KubeconfigForPod(t, b, harness.SystemNamespace, "statecraft-"+area)
	}
	path, err := b.KubeconfigFor(harness.User(area), "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return path
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
	log, err := os.OpenFile(m.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	args := append(m.area.Args(),
		"--kubeconfig="+m.kubeconfig,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--lease-duration=7s", "--renew-deadline=2s", "--retry-period=500ms",
	)
	m.cmd = exec.Command(Build(m.t, m.bed, m.area.Program), append(args, m.args...)...)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return m.cmd.Start()
}

// Kill ends the process at once, as a crash does.
func (m *Manager) Kill() { m.end(syscall.SIGKILL) }

// Stop lets the process end by itself; it gives its election back.
func (m *Manager) Stop() { m.end(syscall.SIGTERM) }

// Pause lets the process stand still, as a machine does that is busy or asleep: it does not know that it is.
func (m *Manager) Pause() { m.signal(syscall.SIGSTOP) }

// Resume lets it go on.
func (m *Manager) Resume() { m.signal(syscall.SIGCONT) }

func (m *Manager) signal(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.cmd.Process.Signal(sig); err != nil {
		m.t.Fatalf("signal the manager: %v", err)
	}
}

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
	_ = m.cmd.Process.Signal(syscall.SIGCONT) // one that stands still hears nothing else
	m.mu.Unlock()
	<-m.ended
}

func (m *Manager) logPath() string { return filepath.Join(m.bed.Dir(), "manager-"+m.area.Name+".log") }

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

// Build builds a program once per bed, into the bed's directory, which goes with it.
func Build(t testing.TB, b *bed.Bed, program string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	path := filepath.Join(b.Dir(), program)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	out, err := exec.Command("go", "build", "-o", path, "github.com/statecraft-dev/statecraft/cmd/"+program).CombinedOutput()
	if err != nil {
		t.Fatalf("build %s: %v\n%s", program, err, out)
	}
	return path
}

// find finds an area, which must exist.
func find(t testing.TB, name string) areas.Area {
	t.Helper()
	area, found := areas.Find(name)
	if !found {
		t.Fatalf("there is no area %q", name)
	}
	return area
}

var building sync.Mutex
