// Package filelock keeps two processes on one machine out of each other's way.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// retryEvery is how often a lock that somebody else holds is asked for again.
const retryEvery = 100 * time.Millisecond

// ErrHeld says that another process holds the lock.
var ErrHeld = errors.New("lock is held by another process")

// Lock is held until Unlock or until its process ends, however it ends.
type Lock struct{ file *os.File }

// Try takes the lock at path, or returns ErrHeld at once.
func Try(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make directory of lock: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return &Lock{file: file}, nil
	}
	_ = file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w", path, ErrHeld)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// Wait takes the lock at path, waiting for whoever holds it until ctx ends.
func Wait(ctx context.Context, path string) (*Lock, error) {
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	for {
		lock, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock: %w", errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

// Unlock gives the lock back. The file stays: removing it would let two processes hold "the" lock.
func (l *Lock) Unlock() error { return l.file.Close() }
