package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
)

// hostTools are the programs the bed uses from Debian, by the package that brings them.
var hostTools = map[string]string{
	"ip":         "iproute2",
	"iptables":   "iptables",
	"conntrack":  "conntrack",
	"nsenter":    "util-linux",
	"mount":      "mount",
	"mmdebstrap": "mmdebstrap",
	"pkg-config": "pkg-config",
	"gcc":        "gcc",
}

// InstallHostTools installs the Debian packages of which a program is missing.
func InstallHostTools(ctx context.Context) error {
	var missing []string
	for program, pkg := range hostTools {
		if _, err := lookPath(program); err != nil {
			missing = append(missing, pkg)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	fmt.Fprintf(Progress, "bed: installing %s\n", strings.Join(missing, " "))
	if err := updateIndexOnce(ctx); err != nil {
		return err
	}
	args := append([]string{"install", "--yes", "--no-install-recommends"}, missing...)
	return apt(ctx, "", args...)
}

// lookPath also looks where Debian keeps the programs of root, which a user's PATH leaves out.
func lookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", err
}

// UnpackedDeb returns a cached directory that holds the files of a Debian package.
func UnpackedDeb(ctx context.Context, pkg string) (string, error) {
	return Cached(ctx, filepath.Join("debian", pkg), func(ctx context.Context, out string) error {
		if err := updateIndexOnce(ctx); err != nil {
			return err
		}
		// A directory that apt's own unprivileged user may write to.
		download, err := os.MkdirTemp("", "statecraft-deb-")
		if err != nil {
			return fmt.Errorf("make download directory: %w", err)
		}
		defer func() { _ = os.RemoveAll(download) }()
		if err := apt(ctx, download, "-o", "APT::Sandbox::User=root", "download", pkg); err != nil {
			return err
		}
		debs, err := filepath.Glob(filepath.Join(download, "*.deb"))
		if err != nil || len(debs) != 1 {
			return fmt.Errorf("download %s: %w", pkg, errors.Join(err, fmt.Errorf("%d files", len(debs))))
		}
		return run(ctx, "", nil, "dpkg", "-x", debs[0], out)
	})
}

var indexUpdate sync.Mutex
var indexUpdated bool

// updateIndexOnce fetches the package index once in the life of the process.
func updateIndexOnce(ctx context.Context) error {
	indexUpdate.Lock()
	defer indexUpdate.Unlock()
	if indexUpdated {
		return nil
	}
	if err := apt(ctx, "", "update"); err != nil {
		return err
	}
	indexUpdated = true
	return nil
}

// apt runs apt-get, one process of ours at a time: dpkg refuses a second one instead of waiting for its turn.
func apt(ctx context.Context, dir string, args ...string) error {
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	lock, err := filelock.Wait(ctx, filepath.Join(cache, "apt.lock"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	args = append([]string{"-o", "DPkg::Lock::Timeout=300", "--quiet"}, args...)
	return run(ctx, dir, []string{"DEBIAN_FRONTEND=noninteractive"}, "apt-get", args...)
}
