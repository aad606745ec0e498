// Package loop detaches the loop devices behind block volumes. The kernel keeps them when the process that made them
// ends, so the bed has to look for them.
package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
)

const (
	// Volumes is the name of a directory of volumes, by which devices of any bed are told from others.
	Volumes = "statecraft-csi-volumes"
	// Lock is the name of the file beside it that a bed holds locked while it lives.
	Lock = "lock"

	detachedEvery   = 20 * time.Millisecond
	detachedTimeout = 10 * time.Second
)

// Devices are the loop devices in use, by the files behind them.
func Devices() (map[string]string, error) {
	found, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, fmt.Errorf("list loop devices: %w", err)
	}
	devices := map[string]string{}
	for _, path := range found {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // detached meanwhile
		}
		file := strings.TrimSuffix(strings.TrimSpace(string(content)), " (deleted)")
		devices["/dev/"+filepath.Base(filepath.Dir(filepath.Dir(path)))] = file
	}
	return devices, nil
}

// DetachBelow detaches every device whose file lies in dir.
func DetachBelow(ctx context.Context, dir string) error {
	return detach(ctx, func(file string) bool { return filepath.Dir(file) == dir })
}

// DetachLeftovers detaches the devices of beds that were killed.
func DetachLeftovers(ctx context.Context) error {
	return detach(ctx, func(file string) bool {
		dir := filepath.Dir(file)
		return filepath.Base(dir) == Volumes && !held(filepath.Join(filepath.Dir(dir), Lock))
	})
}

// held says whether a bed that lives has the lock. A lock that is gone went with its bed.
func held(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	lock, err := filelock.Try(path)
	if err != nil {
		return true
	}
	_ = lock.Unlock()
	return false
}

func detach(ctx context.Context, ours func(file string) bool) error {
	devices, err := Devices()
	if err != nil {
		return err
	}
	var errs []error
	for device, file := range devices {
		if ours(file) {
			errs = append(errs, detachOne(ctx, device, file))
		}
	}
	return errors.Join(errs...)
}

// detachOne waits until the device is free: whoever has it open still, a process that is just ending, keeps it.
func detachOne(ctx context.Context, device, file string) error {
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", device, err)
	}
	err = unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0)
	_ = unix.Close(fd)
	if err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("detach %s from %s: %w", device, file, err)
	}
	err = wait.PollUntilContextTimeout(ctx, detachedEvery, detachedTimeout, true, func(context.Context) (bool, error) {
		now, err := Devices()
		return now[device] != file, err
	})
	if err != nil {
		return fmt.Errorf("wait until %s is free: %w", device, err)
	}
	return nil
}
