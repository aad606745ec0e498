package nodeinit

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	restartAfter   = time.Second
	socketEvery    = 20 * time.Millisecond
	socketPatience = time.Minute
)

// ErrNoSocket says that a daemon did not answer on its socket.
var ErrNoSocket = errors.New("socket does not answer")

// supervise starts the daemons in order and keeps them running. As process 1 it also reaps every orphan of the
// node; so it waits for all children itself and never through os.Process, which would wait for the same ones.
func supervise(daemons []Daemon, logDir string) error {
	running := make(map[int]Daemon, len(daemons))
	for _, daemon := range daemons {
		pid, err := start(daemon, logDir)
		if err != nil {
			return err
		}
		running[pid] = daemon
		if err := awaitSocket(daemon); err != nil {
			return err
		}
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for children: %w", err)
		}
		daemon, ours := running[pid]
		if !ours {
			continue
		}
		delete(running, pid)
		fmt.Fprintf(os.Stderr, "%s ended: exit status %d, signal %v\n", daemon.Name, status.ExitStatus(), status.Signal())
		time.Sleep(restartAfter)
		if pid, err = start(daemon, logDir); err != nil {
			return err
		}
		running[pid] = daemon
	}
}

func start(daemon Daemon, logDir string) (int, error) {
	log, err := os.OpenFile(filepath.Join(logDir, daemon.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return 0, fmt.Errorf("open log of %s: %w", daemon.Name, err)
	}
	defer func() { _ = log.Close() }()
	process, err := os.StartProcess(daemon.Path, append([]string{daemon.Path}, daemon.Args...), &os.ProcAttr{
		Files: []*os.File{nil, log, log},
		Sys:   &unix.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", daemon.Name, err)
	}
	pid := process.Pid
	// Who wants to end it, to see it come back, ends it by this.
	if err := os.WriteFile(filepath.Join(logDir, daemon.Name+".pid"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return 0, fmt.Errorf("write process ID of %s: %w", daemon.Name, err)
	}
	return pid, process.Release()
}

func awaitSocket(daemon Daemon) error {
	if daemon.Socket == "" {
		return nil
	}
	for began := time.Now(); time.Since(began) < socketPatience; time.Sleep(socketEvery) {
		connection, err := net.Dial("unix", daemon.Socket)
		if err == nil {
			return connection.Close()
		}
	}
	return fmt.Errorf("%s on %s: %w", daemon.Name, daemon.Socket, ErrNoSocket)
}
