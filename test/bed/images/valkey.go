package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/internal/archive"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// ErrVersion says that Debian has moved on to another version than the image is named after.
var ErrVersion = errors.New("the suite holds another version")

// ErrSources says that the machine's list of archives does not look as Debian's installer writes it.
var ErrSources = errors.New("the first stanza has no Suites line")

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
		return archive.Image{}, fmt.Errorf("want valkey %s, %s has %s: %w", v.version, v.suites, exact, ErrVersion)
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

// systemSources is where Debian's installer puts the archive a machine uses.
const systemSources = "/etc/apt/sources.list.d/debian.sources"

var suitesLine = regexp.MustCompile(`(?m)^Suites:.*$`)

// bootstrap unpacks the packages into a tar. The archive is the one this machine uses, with other suites: so
// no mirror is named here.
func (v valkey) bootstrap(ctx context.Context, scratch, rootfs string) error {
	content, err := os.ReadFile(systemSources)
	if err != nil {
		return fmt.Errorf("find the machine's Debian archive: %w", err)
	}
	stanza, _, _ := bytes.Cut(content, []byte("\n\n"))
	if !suitesLine.Match(stanza) {
		return fmt.Errorf("%s: %w", systemSources, ErrSources)
	}
	sources := filepath.Join(scratch, "valkey.sources")
	stanza = suitesLine.ReplaceAll(stanza, []byte("Suites: "+v.suites))
	if err := os.WriteFile(sources, append(stanza, '\n'), 0o644); err != nil {
		return fmt.Errorf("write sources: %w", err)
	}
	release, _, _ := strings.Cut(v.suites, " ")
	return parts.Run(ctx, []string{"SOURCE_DATE_EPOCH=0"}, "mmdebstrap", "--variant=extract",
		"--include=base-files,valkey-server"+v.pin, "--aptopt=Acquire::Check-Valid-Until \"false\"",
		release, rootfs, sources)
}
