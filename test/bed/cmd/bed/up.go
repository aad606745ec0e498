package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

var (
	errAlreadyUp = errors.New("a cluster is up already; take it down first")
	errNotUp     = errors.New("the cluster did not come up")
)

// up starts a supervisor that outlives it, and waits until that says the cluster is ready.
func up(ctx context.Context, o options) error {
	began := time.Now()
	if err := makeRoom(ctx, o); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	supervisor, progress, err := startSupervisor(o)
	if err != nil {
		return err
	}
	defer func() { _ = progress.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = supervisor.Process.Signal(syscall.SIGTERM) })
	defer stop()
	if !relay(progress) {
		_ = supervisor.Wait()
		return fmt.Errorf("%w\n%s", errNotUp, process.Tail(o.path(supervisorLog)))
	}
	s, _, err := load(o)
	if err != nil {
		return err
	}
	fmt.Print(welcome(o, s, time.Since(began)))
	return nil
}

// welcome says how to go on: with the wrapper for the cluster that make starts, by its files for any other.
func welcome(o options, s state, took time.Duration) string {
	kubectl := "hack/kubectl"
	if o.dir != defaultDir() {
		kubectl = s.Kubectl + " --kubeconfig=" + s.Kubeconfig
	}
	return fmt.Sprintf(`Up in %.1f s.

  talk to it                   %s get %s
  run the manager against it   make run
  take it down                 make bed-down
`, took.Seconds(), kubectl, whatToLookAt(o))
}

// whatToLookAt is something that the cluster has.
func whatToLookAt(o options) string {
	if o.nodes > 0 {
		return "nodes"
	}
	return "namespaces"
}

// makeRoom sees to the past: a running cluster is refused, one that was killed is tidied up.
func makeRoom(ctx context.Context, o options) error {
	s, found, err := load(o)
	if err != nil || !found {
		return err
	}
	if s.Supervisor.Alive() {
		return errAlreadyUp
	}
	return down(ctx, o)
}

func startSupervisor(o options) (*exec.Cmd, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	log, err := os.OpenFile(o.path(supervisorLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	defer func() { _ = writer.Close() }()
	cmd := exec.Command(self, superviseCommand, "-dir", o.dir, "-nodes", strconv.Itoa(o.nodes),
		"-csi="+strconv.FormatBool(o.csi))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{writer}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a closed terminal must not end it
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start supervisor: %w", err)
	}
	return cmd, reader, nil
}

// relay prints what the supervisor says until it is ready, or gone.
func relay(progress *os.File) bool {
	lines := bufio.NewScanner(progress)
	for lines.Scan() {
		if lines.Text() == readyLine {
			return true
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return false
}
