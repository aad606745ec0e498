package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Versions lists the versions there are, the oldest first.
func Versions() []string { return []string{"8.0", "8.1", "9.1"} }

var tags = map[string]string{"8.0": images.Valkey80, "8.1": images.Valkey81, "9.1": images.Valkey91}

var (
	errVersion = errors.New("no such version")
	errNoFile  = errors.New("no such file in the image")
)

// script starts the server with the libraries that it was built for, which are not
// those of this machine.
const script = `#!/bin/sh
root=${0%%/bin/valkey-server}
exec "$root/%s" --library-path "$root/usr/lib/%[2]s:$root/lib/%[2]s" --argv0 valkey-server "$root/usr/bin/valkey-server" "$@"
`

// Program returns the path of valkey-server of one version, out of the image that the
// bed uses.
func Program(ctx context.Context, version string) (string, error) {
	tag, known := tags[version]
	if !known {
		return "", fmt.Errorf("find valkey-server %q: %w", version, errVersion)
	}
	dir, err := parts.Cached(ctx, filepath.Join("servers", "valkey-"+version), func(ctx context.Context, out string) error {
		archive, err := images.Archive(ctx, tag)
		if err != nil {
			return err
		}
		if err := unpack(archive, out); err != nil {
			return err
		}
		return writeScript(out)
	})
	return filepath.Join(dir, "bin", "valkey-server"), err
}

// writeScript looks where the image keeps the loader: that depends on the release of
// Debian and on the machine.
func writeScript(root string) error {
	for _, pattern := range []string{"usr/lib/*-linux-gnu*/ld-linux-*.so.*", "lib/*-linux-gnu*/ld-linux-*.so.*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			continue
		}
		loader, err := filepath.Rel(root, found[0])
		if err != nil {
			return fmt.Errorf("find loader: %w", err)
		}
		text := fmt.Sprintf(script, loader, filepath.Base(filepath.Dir(loader)))
		if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
			return fmt.Errorf("write script: %w", err)
		}
		return os.WriteFile(filepath.Join(root, "bin", "valkey-server"), []byte(text), 0o755)
	}
	return fmt.Errorf("find loader: %w", errNoFile)
}
