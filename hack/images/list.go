package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// listAll prints every file of every image, and how much there is to pull.
func listAll(images []built, out io.Writer) error {
	for _, b := range images {
		fmt.Fprintf(out, "%s %s\n", b.name, b.digest)
		err := b.each(func(platform v1.Platform, image v1.Image) error {
			packed, err := packedSize(image)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "  %s, %.1f MB to pull\n", platform, float64(packed)/1e6)
			return walk(image, func(h *tar.Header, _ io.Reader) error {
				fmt.Fprintf(out, "    %04o %d:%d %9d /%s\n", h.Mode, h.Uid, h.Gid, h.Size, h.Name)
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("list %s: %w", b.name, err)
		}
	}
	return nil
}

// packedSize is what a node pulls for an image: configuration and layers.
func packedSize(image v1.Image) (int64, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return 0, err
	}
	size := manifest.Config.Size
	for _, layer := range manifest.Layers {
		size += layer.Size
	}
	return size, nil
}

// walk calls visit with every file and folder of an image.
func walk(image v1.Image, visit func(*tar.Header, io.Reader) error) error {
	files := mutate.Extract(image)
	defer func() { _ = files.Close() }() // it was only read
	for reader := tar.NewReader(files); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(header, reader); err != nil {
			return err
		}
	}
}
