package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageName is how containerd shall call an image that it imports. A pod that names its image by digest
// is given it only if it has that very name.
const imageName = "io.containerd.image.name"

// archiveAll writes one OCI archive for nodes without a registry, in which each image is named as it would be pulled:
// <registry>/<name>@<digest>. With platforms, only their content is in it; the digests stay.
func archiveAll(images []built, registry string, platforms []v1.Platform, file string) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := &archive{tar: tar.NewWriter(out), has: map[v1.Hash]bool{}}
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	for _, image := range images {
		described, err := partial.Descriptor(image.index)
		if err != nil {
			return err
		}
		described.Annotations = map[string]string{imageName: registry + "/" + image.name + "@" + image.digest.String()}
		index.Manifests = append(index.Manifests, *described)
		if err := w.add(image, platforms); err != nil {
			return err
		}
	}
	text, err := json.Marshal(index)
	if err != nil {
		return err
	}
	return errors.Join(w.file("index.json", text), w.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)), w.tar.Close())
}

type archive struct {
	tar *tar.Writer
	has map[v1.Hash]bool
}

// add writes the index of an image and the content of the platforms, or of all if none are given.
func (w *archive) add(b built, platforms []v1.Platform) error {
	if err := w.blob(b, b.digest); err != nil {
		return err
	}
	return b.each(func(platform v1.Platform, image v1.Image) error {
		if len(platforms) > 0 && !slices.ContainsFunc(platforms, platform.Equals) {
			return nil
		}
		digest, err := image.Digest()
		if err != nil {
			return err
		}
		manifest, err := image.Manifest()
		if err != nil {
			return err
		}
		blobs := []v1.Hash{digest, manifest.Config.Digest}
		for _, layer := range manifest.Layers {
			blobs = append(blobs, layer.Digest)
		}
		for _, digest := range blobs {
			if err := w.blob(b, digest); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *archive) blob(b built, digest v1.Hash) error {
	if w.has[digest] {
		return nil
	}
	w.has[digest] = true
	from, err := b.blob(digest)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	text, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	return w.file("blobs/"+digest.Algorithm+"/"+digest.Hex, text)
}

func (w *archive) file(name string, text []byte) error {
	header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: epoch, Typeflag: tar.TypeReg}
	if err := w.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.tar.Write(text)
	return err
}
