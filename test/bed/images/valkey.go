package images

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/internal/archive"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// valkey is Debian's valkey-server and valkey-tools with what they need, unconfigured.
type valkey struct {
	version string // as in the tag
	suites  string // the first is the release, the others are added to it
	pin     string // suffix that makes apt take the package from a later suite
}

func (v valkey) key() string { return "1" }

func (v valkey) assemble(ctx context.Context, scratch string) (archive.Image, error) {
	rootfs := filepath.Join(scratch, "rootfs.tar")
	if err := v.bootstrap(ctx, scratch, rootfs); err != nil {
		return archive.Image{}, err
	}
	exact, err := packageVersion(rootfs, "valkey-server")
	if err != nil {
		return archive.Image{}, err
	}
	if !strings.HasPrefix(exact, v.version+".") {
		return archive.Image{}, fmt.Errorf("want valkey %s, %s has %s: %w", v.version, v.suites, exact, parts.ErrVersion)
	}
	return archive.Image{
		Layers: []archive.Layer{
			archive.TarFile(rootfs),
			archive.Files{"/data": {Dir: true, Mode: 0o777}},
		},
		Config: archive.Config{
			Entrypoint: []string{"/usr/bin/valkey-server"},
			Env:        []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
			User:       nobody,
			WorkingDir: "/data",
			Labels:     map[string]string{"org.opencontainers.image.version": exact},
		},
	}, nil
}

// bootstrap unpacks the packages into a tar.
func (v valkey) bootstrap(ctx context.Context, scratch, rootfs string) error {
	sources := filepath.Join(scratch, "valkey.sources")
	if err := parts.WriteSources(sources, v.suites); err != nil {
		return err
	}
	release, _, _ := strings.Cut(v.suites, " ")
	return parts.Run(ctx, []string{"SOURCE_DATE_EPOCH=0"}, "mmdebstrap", "--variant=extract",
		"--include=base-files,valkey-server"+v.pin, "--aptopt=Acquire::Check-Valid-Until \"false\"",
		release, rootfs, sources)
}
