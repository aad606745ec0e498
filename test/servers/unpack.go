package servers

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// unpack takes the programs and the libraries out of a docker archive, whose layers
// are tar files themselves.
func unpack(archive, out string) error {
	file, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer func() { _ = file.Close() }()
	return each(file, func(header *tar.Header, content io.Reader) error {
		if filepath.Ext(header.Name) != ".tar" {
			return nil
		}
		return each(content, func(header *tar.Header, content io.Reader) error { return put(out, header, content) })
	})
}

func each(archive io.Reader, do func(*tar.Header, io.Reader) error) error {
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if err := do(header, reader); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

// put writes one file, if it is a part of the server.
func put(out string, header *tar.Header, content io.Reader) error {
	name := filepath.Clean(strings.TrimPrefix(header.Name, "./"))
	library := strings.Contains(filepath.Base(name), ".so") && strings.Contains(name, "lib/")
	program := strings.HasPrefix(name, "usr/bin/valkey-")
	if !library && !program || !filepath.IsLocal(name) {
		return nil
	}
	path := filepath.Join(out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		return os.Symlink(header.Linkname, path)
	case tar.TypeReg:
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return nil
}
