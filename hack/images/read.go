package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// built is an image that build wrote.
type built struct {
	name, version string
	dir           string
	digest        v1.Hash
	index         v1.ImageIndex
}

var errNotBuilt = errors.New("there is not exactly one image")

// readAll reads the images in a folder, in the order of the table.
func readAll(dir string) (all []built, err error) {
	for _, p := range programs {
		b, err := read(p.Name, filepath.Join(dir, "images", p.Name))
		if err != nil {
			return nil, fmt.Errorf("read image %s: %w", p.Name, err)
		}
		all = append(all, b)
	}
	return all, nil
}

func read(name, dir string) (built, error) {
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return built{}, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return built{}, err
	}
	if len(manifest.Manifests) != 1 {
		return built{}, errNotBuilt
	}
	only := manifest.Manifests[0]
	index, err := outer.ImageIndex(only.Digest)
	return built{name: name, version: only.Annotations[refName], dir: dir, digest: only.Digest, index: index}, err
}

// each calls visit with the image of every platform.
func (b built) each(visit func(v1.Platform, v1.Image) error) error {
	manifest, err := b.index.IndexManifest()
	if err != nil {
		return err
	}
	for _, m := range manifest.Manifests {
		image, err := b.index.Image(m.Digest)
		if err != nil {
			return err
		}
		if err := visit(*m.Platform, image); err != nil {
			return err
		}
	}
	return nil
}

// blob opens content of the image by its digest.
func (b built) blob(digest v1.Hash) (*os.File, error) {
	return os.Open(filepath.Join(b.dir, "blobs", digest.Algorithm, digest.Hex))
}
