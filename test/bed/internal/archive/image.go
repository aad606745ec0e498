package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
)

// Image is what an archive holds.
type Image struct {
	Tag    string
	Layers []Layer
	Config Config
}

// What a docker archive says of its images, and where.
const (
	manifestName = "manifest.json"
	repoTags     = "RepoTags"
)

// Config is how the image's program is run.
type Config struct {
	Entrypoint []string          `json:",omitempty"`
	Cmd        []string          `json:",omitempty"`
	Env        []string          `json:",omitempty"`
	User       string            `json:",omitempty"`
	WorkingDir string            `json:",omitempty"`
	Labels     map[string]string `json:",omitempty"`
}

// WriteFile writes the archive to a file.
func (i Image) WriteFile(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	if err := i.write(file); err != nil {
		_ = file.Close()
		return fmt.Errorf("write archive of %s: %w", i.Tag, err)
	}
	return file.Close()
}

func (i Image) write(out io.Writer) error {
	writer := tar.NewWriter(out)
	digests := make([]string, len(i.Layers))
	names := make([]string, len(i.Layers))
	for n, layer := range i.Layers {
		digest, err := digestOf(layer)
		if err != nil {
			return err
		}
		digests[n], names[n] = "sha256:"+digest, digest+".tar"
		if err := copyLayer(writer, names[n], layer); err != nil {
			return err
		}
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": i.Config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": digests},
	})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(config)
	configName := hex.EncodeToString(sum[:]) + ".json"
	manifest, err := json.Marshal([]map[string]any{{"Config": configName, repoTags: []string{i.Tag}, "Layers": names}})
	if err != nil {
		return err
	}
	if err := add(writer, configName, File{Mode: 0o644, Content: config}); err != nil {
		return err
	}
	if err := add(writer, manifestName, File{Mode: 0o644, Content: manifest}); err != nil {
		return err
	}
	return writer.Close()
}

func digestOf(layer Layer) (string, error) {
	reader, _, err := layer.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = reader.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, reader); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func copyLayer(writer *tar.Writer, name string, layer Layer) error {
	reader, size, err := layer.open()
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err = io.Copy(writer, reader)
	return err
}
