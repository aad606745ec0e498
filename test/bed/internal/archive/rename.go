package archive

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Renamed reads an archive of one image as if it had been written under other names.
func Renamed(archive io.Reader, names ...string) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(rename(writer, archive, names)) }()
	return reader
}

func rename(out io.Writer, archive io.Reader, names []string) error {
	entries, writer := tar.NewReader(archive), tar.NewWriter(out)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return writer.Close()
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if header.Name == manifestName {
			err = renameManifest(writer, entries, names)
		} else {
			err = copyEntry(writer, header, entries)
		}
		if err != nil {
			return fmt.Errorf("rename archive: %w", err)
		}
	}
}

func renameManifest(writer *tar.Writer, entry io.Reader, names []string) error {
	var manifest []map[string]any
	if err := json.NewDecoder(entry).Decode(&manifest); err != nil {
		return err
	}
	for _, image := range manifest {
		image[repoTags] = names
	}
	content, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	return add(writer, manifestName, File{Mode: 0o644, Content: content})
}

func copyEntry(writer *tar.Writer, header *tar.Header, entry io.Reader) error {
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(writer, entry)
	return err
}
