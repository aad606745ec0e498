package process

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// restartAfter is how soon a kept server that ended is started again.
const restartAfter = 500 * time.Millisecond

// Kept is a server that is started again whenever it ends, until it is stopped.
type Kept struct {
	command Command
	logDir  string

	mu      sync.Mutex
	stop    context.CancelFunc // nil while stopped
	current *Process
}

// Keep describes a server to keep running. It does not run before Start.
func Keep(command Command, logDir string) *Kept {
	return &Kept{command: command, logDir: logDir}
}

// Start starts the server; one that is started already goes on.
func (k *Kept) Start() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop != nil {
		return nil
	}
	first, err := Start(k.command, k.logDir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	k.current, k.stop = first, stop
	go k.keep(ctx, first)
	return nil
}

func (k *Kept) keep(ctx context.Context, running *Process) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-running.Done():
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(restartAfter):
		}
		next, err := k.restart(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bed:", err)
			return
		}
		if next == nil {
			return
		}
		running = next
	}
}

// restart starts nothing once the server is being stopped: Stop cancels under the same lock.
func (k *Kept) restart(ctx context.Context) (*Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ctx.Err() != nil {
		return nil, nil
	}
	next, err := Start(k.command, k.logDir)
	if err != nil {
		return nil, err
	}
	k.current = next
	return next, nil
}

// Stop ends the server and waits until it is gone. One that is stopped already is no error.
func (k *Kept) Stop(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop == nil {
		return nil
	}
	k.stop()
	k.stop = nil
	return k.current.Kill(ctx)
}

// PID is the id of the process that runs now, or false if none does.
func (k *Kept) PID() (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop == nil || k.current.Check() != nil {
		return 0, false
	}
	return k.current.PID(), true
}

// Log is the path of the server's log.
func (k *Kept) Log() string { return logPath(k.logDir, k.command.Name) }
