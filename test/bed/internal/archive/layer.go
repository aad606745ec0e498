// Package archive writes container images as docker archives, the same bytes for the same content.
package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// Layer is a tar of files.
type Layer interface {
	open() (io.ReadCloser, int64, error)
}

// TarFile is a layer that lies on disk as a tar.
type TarFile string

func (f TarFile) open() (io.ReadCloser, int64, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return nil, 0, fmt.Errorf("open layer: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, 0, fmt.Errorf("open layer: %w", err)
	}
	return file, info.Size(), nil
}

// Files is a layer made here, by absolute path. Parent directories come by themselves.
type Files map[string]File

// File is a regular file, or a symbolic link or a directory.
type File struct {
	Mode    int64
	Content []byte
	Link    string
	Dir     bool
}

func (f Files) open() (io.ReadCloser, int64, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, name := range f.sortedNames() {
		file, ok := f[name]
		if !ok {
			file = File{Dir: true, Mode: 0o755}
		}
		if err := add(writer, strings.TrimPrefix(name, "/"), file); err != nil {
			return nil, 0, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, 0, fmt.Errorf("write layer: %w", err)
	}
	return io.NopCloser(&buffer), int64(buffer.Len()), nil
}

// sortedNames puts every directory before what is in it.
func (f Files) sortedNames() []string {
	names := map[string]struct{}{}
	for name := range f {
		for ; name != "/"; name = path.Dir(name) {
			names[name] = struct{}{}
		}
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}

func add(writer *tar.Writer, name string, file File) error {
	header := &tar.Header{Name: name, Mode: file.Mode, Size: int64(len(file.Content)), Typeflag: tar.TypeReg}
	switch {
	case file.Dir:
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
	case file.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, file.Link, 0o777
	}
	if err := writer.WriteHeader(header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := writer.Write(file.Content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
