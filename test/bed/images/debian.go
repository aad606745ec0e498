package images

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// packageVersion reads a package's version from the changelog it brought into a file system.
func packageVersion(rootfs, pkg string) (string, error) {
	file, err := os.Open(rootfs)
	if err != nil {
		return "", fmt.Errorf("open file system: %w", err)
	}
	defer func() { _ = file.Close() }()
	want := path.Join("usr/share/doc", pkg, "changelog.Debian.gz")
	reader := tar.NewReader(file)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("find %s: %w", want, os.ErrNotExist)
		}
		if err != nil {
			return "", fmt.Errorf("read file system: %w", err)
		}
		if path.Clean(header.Name) == want {
			return firstVersion(reader)
		}
	}
}

// firstVersion takes "8.0.1+dfsg1-1" out of "valkey (8.0.1+dfsg1-1) bookworm; urgency=medium".
func firstVersion(changelog io.Reader) (string, error) {
	plain, err := gzip.NewReader(changelog)
	if err != nil {
		return "", fmt.Errorf("unpack changelog: %w", err)
	}
	line, err := bufio.NewReader(plain).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("read changelog: %w", err)
	}
	_, rest, _ := strings.Cut(line, "(")
	version, _, found := strings.Cut(rest, ")")
	if !found {
		return "", fmt.Errorf("no version in %q", line)
	}
	return version, nil
}
