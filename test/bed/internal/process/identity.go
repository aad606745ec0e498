package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// goneEvery is how often a process that was told to end is looked for.
const goneEvery = 50 * time.Millisecond

// Identity tells one process from any other that ever has the same id: ids are used again, but not with the
// same time of start.
type Identity struct {
	PID   int
	Start uint64 // clock ticks after the machine's start
	Boot  string // which start of the machine
}

// Identify returns the identity of a running process.
func Identify(pid int) (Identity, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Identity{}, fmt.Errorf("identify process: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("identify machine's start: %w", err)
	}
	// The name, in parentheses, may hold anything; the fields after it are counted from the third on.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const startTime = 22 - 3
	if len(fields) <= startTime {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, errShortStat)
	}
	if fields[0] == "Z" {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, errZombie)
	}
	start, err := strconv.ParseUint(fields[startTime], 10, 64)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Identity{PID: pid, Start: start, Boot: strings.TrimSpace(string(boot))}, nil
}

var (
	errShortStat = errors.New("unexpected /proc/<pid>/stat")
	errZombie    = errors.New("it has ended and waits for its parent to notice")
)

// Alive says whether this very process still runs.
func (i Identity) Alive() bool {
	now, err := Identify(i.PID)
	return err == nil && now == i
}

// Signal sends a signal to this very process and to no other; one that is gone is no error.
func (i Identity) Signal(signal unix.Signal) error {
	// The descriptor holds on to whatever has the id now; only then is it sure whom the signal reaches.
	fd, err := unix.PidfdOpen(i.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", i.PID, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if !i.Alive() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", i.PID, err)
	}
	return nil
}

// AwaitEnd waits until the process is gone or ctx ends.
func (i Identity) AwaitEnd(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, goneEvery, true, func(context.Context) (bool, error) {
		return !i.Alive(), nil
	})
}
