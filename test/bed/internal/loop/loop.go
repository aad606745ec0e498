// Package loop detaches the loop devices behind block volumes. The kernel keeps them when the process that made them
// ends, so the bed has to look for them.
package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	// Volumes is the name of a directory of volumes, by which devices of any bed are told from others.
	Volumes = "statecraft-csi-volumes"
	// Lock is the name of the file beside it that a bed holds locked while it lives.
	Lock = "lock"

	loopMajor = 7 // of the device numbers of loop devices

	detachedEvery   = 20 * time.Millisecond
	detachedTimeout = timeout.Command
)

// Devices are the loop devices in use, by the files behind them. Kubelet puts a device of its own over one that a pod
// uses: behind that is the same file.
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
	for device := range devices {
		if below, stacked := over(device); stacked && devices[below] != "" {
			devices[device] = devices[below]
		}
	}
	return devices, nil
}

// over is the loop device on which another one lies.
func over(device string) (string, bool) {
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer func() { _ = unix.Close(fd) }()
	status, err := unix.IoctlLoopGetStatus64(fd)
	if err != nil || unix.Major(status.Rdevice) != loopMajor {
		return "", false
	}
	return fmt.Sprintf("/dev/loop%d", unix.Minor(status.Rdevice)), true
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
	maps.DeleteFunc(devices, func(_, file string) bool { return !ours(file) })
	var errs []error
	for device, file := range devices {
		if err := release(device); err != nil {
			errs = append(errs, fmt.Errorf("detach %s from %s: %w", device, file, err))
		}
	}
	return errors.Join(append(errs, awaitFree(ctx, devices))...)
}

func release(device string) error {
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0); err != nil && !errors.Is(err, unix.ENXIO) {
		return err
	}
	return nil
}

// awaitFree waits for who has a device open still: a process that is just ending, or another device over it.
func awaitFree(ctx context.Context, released map[string]string) error {
	err := wait.PollUntilContextTimeout(ctx, detachedEvery, detachedTimeout, true, func(context.Context) (bool, error) {
		now, err := Devices()
		maps.DeleteFunc(released, func(device, file string) bool { return now[device] != file })
		return len(released) == 0, err
	})
	if err != nil {
		return fmt.Errorf("wait until %v are free: %w", released, err)
	}
	return nil
}
