package monitoring

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Process is a Prometheus that runs on loopback, and ends with its test.
type Process struct {
	URL string

	t            testing.TB
	program, dir string
	cmd          *exec.Cmd
	log          *os.File
}

// Launch starts a Prometheus with a configuration, and waits until it answers.
func Launch(t testing.TB, config []byte) *Process {
	t.Helper()
	programs, err := parts.Dir(t.Context(), parts.Prometheus)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yaml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{URL: "http://" + FreeAddress(t), t: t, program: filepath.Join(programs, "prometheus"), dir: dir, log: log}
	t.Cleanup(func() {
		p.Kill() // its data goes with the folder
		_ = log.Close()
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("log of Prometheus:\n%s", said[max(0, len(said)-4000):])
		}
	})
	p.Start()
	return p
}

// Start starts it, with the data that it has.
func (p *Process) Start() {
	p.t.Helper()
	p.cmd = exec.Command(p.program, "--config.file="+filepath.Join(p.dir, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(p.dir, "data"), "--web.listen-address="+p.URL[len("http://"):])
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = p.log, p.log, p.dir
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	harness.Eventually(p.t, timeout.Wait, poll, p.ready)
}

func (p *Process) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout.Command)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/-/ready", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %d: %w", answer.StatusCode, err)
	}
	return nil
}

// Kill ends it at once; its data stays.
func (p *Process) Kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// Wipe takes the data of one that does not run.
func (p *Process) Wipe() error { return os.RemoveAll(filepath.Join(p.dir, "data")) }

// Freeze stops it where it is; it keeps its connections, and accepts others. Thaw lets it go on.
func (p *Process) Freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets one go on that was frozen.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
