package parts

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
)

// runc is static and has seccomp compiled in: without it every pod sandbox is refused. The headers and the
// static library come from Debian's package, unpacked beside the build and installed nowhere.
type runc struct{}

func (runc) key() (string, error) { return "static seccomp", nil }

func (runc) build(ctx context.Context, version, out string) error {
	sysroot, err := UnpackedDeb(ctx, "libseccomp-dev")
	if err != nil {
		return err
	}
	libraries, err := filepath.Glob(filepath.Join(sysroot, "usr/lib/*-linux-gnu"))
	if err != nil || len(libraries) != 1 {
		return fmt.Errorf("find libseccomp for %s in %s: %d directories, %w", runtime.GOARCH, sysroot, len(libraries), err)
	}
	env := []string{
		"CGO_ENABLED=1", "GOBIN=" + out,
		"PKG_CONFIG_SYSROOT_DIR=" + sysroot,
		"PKG_CONFIG_PATH=" + filepath.Join(libraries[0], "pkgconfig"),
		"CGO_LDFLAGS=-L" + libraries[0],
	}
	return run(ctx, "", env, "go", "install", "-trimpath", "-tags", "seccomp",
		"-ldflags", "-s -w -extldflags -static", "github.com/opencontainers/runc@"+version)
}
