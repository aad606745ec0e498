package parts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrVersion says that Debian has moved on to another version than the one that is wanted.
var ErrVersion = errors.New("the suite holds another version")

// ErrSources says that the machine's list of archives does not look as Debian's installer writes it.
var ErrSources = errors.New("the first stanza has no Suites line")

// systemSources is where Debian's installer puts the archive a machine uses.
const systemSources = "/etc/apt/sources.list.d/debian.sources"

var suitesLine = regexp.MustCompile(`(?m)^Suites:.*$`)

// WriteSources writes a list of archives for apt: the one this machine uses, with other suites. So
// no mirror is named here.
func WriteSources(file, suites string) error {
	content, err := os.ReadFile(systemSources)
	if err != nil {
		return fmt.Errorf("find the machine's Debian archive: %w", err)
	}
	stanza, _, _ := bytes.Cut(content, []byte("\n\n"))
	if !suitesLine.Match(stanza) {
		return fmt.Errorf("%s: %w", systemSources, ErrSources)
	}
	stanza = suitesLine.ReplaceAll(stanza, []byte("Suites: "+suites))
	if err := os.WriteFile(file, append(stanza, '\n'), 0o644); err != nil {
		return fmt.Errorf("write sources: %w", err)
	}
	return nil
}

// debs are programs out of packages of a release of Debian that need not be this machine's.
type debs struct {
	suite    string
	packages []string // the first has the version of the part
	programs []string // what is kept of them
}

func (d debs) key() (string, error) {
	return strings.Join(append(append([]string{d.suite}, d.packages...), d.programs...), " "), nil
}

func (d debs) build(ctx context.Context, version, out string) error {
	scratch, err := os.MkdirTemp("", "statecraft-suite-")
	if err != nil {
		return fmt.Errorf("make download directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := d.download(ctx, scratch); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(scratch, "*.deb"))
	if err != nil || len(found) != len(d.packages) {
		return fmt.Errorf("download %v: %w", d.packages, errors.Join(err, fmt.Errorf("%d files", len(found))))
	}
	root := filepath.Join(scratch, "root")
	for _, deb := range found {
		if is, first := strings.CutPrefix(filepath.Base(deb), d.packages[0]+"_"); first && !strings.HasPrefix(is, version+".") {
			return fmt.Errorf("want %s %s, %s has %s: %w", d.packages[0], version, d.suite, is, ErrVersion)
		}
		if err := run(ctx, "", nil, "dpkg", "-x", deb, root); err != nil {
			return err
		}
	}
	for _, program := range d.programs {
		if err := copyFile(filepath.Join(root, program), filepath.Join(out, filepath.Base(program))); err != nil {
			return err
		}
	}
	return nil
}

// download fetches the packages with an index of its own: apt of this machine never hears of the suite.
func (d debs) download(ctx context.Context, scratch string) error {
	sources, lists, cache := filepath.Join(scratch, "suite.sources"), filepath.Join(scratch, "lists"), filepath.Join(scratch, "cache")
	if err := WriteSources(sources, d.suite); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Join(lists, "partial"), filepath.Join(cache, "archives/partial")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make download directory: %w", err)
		}
	}
	var options []string
	for _, o := range []string{
		"Dir::Etc::SourceList=" + sources, "Dir::Etc::SourceParts=/dev/null", "Dir::State::Lists=" + lists, "Dir::Cache=" + cache,
		"APT::Sandbox::User=root", "Acquire::Check-Valid-Until=false", "Acquire::Languages=none",
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	} {
		options = append(options, "-o", o)
	}
	if err := apt(ctx, scratch, append(options, "update")...); err != nil {
		return err
	}
	return apt(ctx, scratch, append(append(options, "download"), d.packages...)...)
}
