// Package process runs the servers of a bed so that none of them outlives it.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// ErrExited says that a server ended although nobody asked it to.
var ErrExited = errors.New("server exited")

// Command is what to run.
type Command struct {
	Name  string // of the server, and of its log
	Path  string
	Args  []string
	Env   []string // added to the environment
	Files []*os.File
	// Cloneflags are namespaces the process gets for itself.
	Cloneflags uintptr
	// User is whom the process runs as; nil is the user who starts it.
	User *syscall.Credential
	Dir  string // where it works; "" is where the process that starts it does
}

// Process is a running server. It leads a process group of its own and is killed by the kernel when the
// process that started it ends, however that ends.
type Process struct {
	Name string
	Log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// launch runs a function on one thread that lives as long as this process: the kernel sends the parent-death
// signal when the *thread* that forked ends, and Go ends threads at will.
var launch = sync.OnceValue(func() func(func() error) error {
	work, result := make(chan func() error), make(chan error)
	go func() {
		runtime.LockOSThread()
		for f := range work {
			result <- f()
		}
	}()
	var one sync.Mutex
	return func(f func() error) error {
		one.Lock()
		defer one.Unlock()
		work <- f
		return <-result
	}
})

// Start runs a command with its output in logDir/<name>.log.
func Start(command Command, logDir string) (*Process, error) {
	path := logPath(logDir, command.Name)
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", command.Name, err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = command.Files
	cmd.Env = append(os.Environ(), command.Env...)
	cmd.Dir = command.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: command.Cloneflags, Credential: command.User,
	}
	if err := launch()(cmd.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Name, err)
	}
	p := &Process{Name: command.Name, Log: path, cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.done)
	}()
	return p, nil
}

func logPath(logDir, name string) string { return filepath.Join(logDir, name+".log") }

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Check returns ErrExited with the end of the log if the process has ended.
func (p *Process) Check() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s: %w (%s)\n%s", p.Name, ErrExited, p.cmd.ProcessState, Tail(p.Log))
	default:
		return nil
	}
}

// Signal sends a signal to the process alone.
func (p *Process) Signal(signal syscall.Signal) error { return p.cmd.Process.Signal(signal) }

// Kill ends the process and its group at once and waits until it is gone. Nothing of a bed is kept, so there
// is nothing to save; a polite end would take the API server minutes once its etcd is gone.
func (p *Process) Kill(ctx context.Context) error {
	select {
	case <-p.done: // reaped: its id may already be another's
		return nil
	default:
	}
	if err := syscall.Kill(-p.PID(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w", p.Name, ctx.Err())
	}
}
