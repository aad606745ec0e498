package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// pack makes the package that is installed: the chart with the registry and the digests of one version.
type pack struct{ version, registry, images, out string }

func (p pack) write() error {
	if p.version == "" {
		return errors.New("which version: -version")
	}
	digests, err := readDigests(p.images)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	err = filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if content, err = p.fill(filepath.Base(path), content, digests); err != nil {
			return err
		}
		return add(files, strings.TrimPrefix(filepath.ToSlash(path), "charts/"), content)
	})
	if err := errors.Join(err, files.Close(), zipped.Close()); err != nil {
		return fmt.Errorf("pack chart: %w", err)
	}
	path := filepath.Join(p.out, "statecraft-"+p.version+".tgz")
	if err := writeFile(path, archive.Bytes()); err != nil {
		return err
	}
	return p.removeOthers(path)
}

// removeOthers removes packages of other versions: the docs install dist/statecraft-*.tgz, which must be one file.
func (p pack) removeOthers(packed string) error {
	all, err := filepath.Glob(filepath.Join(p.out, "statecraft-*.tgz"))
	if err != nil {
		return fmt.Errorf("find other packages: %w", err)
	}
	for _, path := range all {
		if path == packed {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove another package: %w", err)
		}
	}
	return nil
}

// add adds a file without a time, so that the same chart makes the same package.
func add(files *tar.Writer, name string, content []byte) error {
	header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(0, 0)}
	if err := files.WriteHeader(header); err != nil {
		return err
	}
	_, err := files.Write(content)
	return err
}

// fill writes version, registry and digests where the chart has its own for development.
func (p pack) fill(name string, content []byte, digests map[string]string) ([]byte, error) {
	change := map[string]string{}
	switch name {
	case "Chart.yaml":
		change["version: "+devVersion+"\n"] = "version: " + p.version + "\n"
		change["appVersion: "+devVersion+"\n"] = "appVersion: " + p.version + "\n"
	case "values.yaml":
		change["  registry: statecraft.local\n"] = "  registry: " + p.registry + "\n"
		for image, digest := range digests {
			change["    "+image+": \"\"\n"] = "    " + image + ": " + digest + "\n"
		}
	}
	for is, becomes := range change {
		if !bytes.Contains(content, []byte(is)) {
			return nil, fmt.Errorf("%s has no line %q", name, strings.TrimSpace(is))
		}
		content = bytes.Replace(content, []byte(is), []byte(becomes), 1)
	}
	return content, nil
}

// devVersion is that of a chart which was not packed.
const devVersion = "0.0.0-dev"

// readDigests reads a list of images: a name and a digest a line.
func readDigests(path string) (map[string]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read digests of images: %w; `make images` writes them", err)
	}
	digests := map[string]string{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || !strings.HasPrefix(fields[1], "sha256:") {
			return nil, fmt.Errorf("%s: not a name and a digest: %q", path, line)
		}
		digests[fields[0]] = fields[1]
	}
	return digests, nil
}
