package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// refName annotates an image in a layout with its tag. It is no part of the image.
const refName = "org.opencontainers.image.ref.name"

// builder makes all images of one version in a folder.
type builder struct {
	compile         compiler
	version, commit string
	platforms       []v1.Platform
	out             string
}

// build writes images/<name> (OCI layouts), sbom/<name>-<os>-<arch>.spdx.json and images.txt.
func (b builder) build(ctx context.Context) error {
	var lines strings.Builder
	for _, p := range programs {
		digest, err := b.write(ctx, p)
		if err != nil {
			return fmt.Errorf("build image %s: %w", p.Name, err)
		}
		fmt.Fprintln(&lines, p.Name, digest)
	}
	return os.WriteFile(filepath.Join(b.out, "images.txt"), []byte(lines.String()), 0o644)
}

// write makes the image of one program for all platforms.
func (b builder) write(ctx context.Context, p program) (v1.Hash, error) {
	scratch, err := os.MkdirTemp("", "statecraft-images-")
	if err != nil {
		return v1.Hash{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // in the folder for temporary files
	var images []v1.Image
	for _, platform := range b.platforms {
		image, err := b.one(ctx, p, platform, filepath.Join(scratch, p.binary()))
		if err != nil {
			return v1.Hash{}, err
		}
		images = append(images, image)
	}
	index := indexOf(images, b.platforms)
	dir := filepath.Join(b.out, "images", p.Name)
	if err := os.RemoveAll(dir); err != nil { // content of before would be part of it
		return v1.Hash{}, err
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{refName: b.version})); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

// one makes the image for one platform, and the list of what is in its binary.
func (b builder) one(ctx context.Context, p program, platform v1.Platform, binary string) (v1.Image, error) {
	if err := b.compile(ctx, p, platform, binary); err != nil {
		return nil, err
	}
	layer, err := layerOf(p, binary)
	if err != nil {
		return nil, err
	}
	image, err := imageOf(p, platform, layer, labels(p, b.version, b.commit))
	if err != nil {
		return nil, err
	}
	return image, b.writeBill(p, platform, binary)
}

func (b builder) writeBill(p program, platform v1.Platform, binary string) error {
	bill, err := billOf(p, platform, binary, b.version)
	if err != nil {
		return fmt.Errorf("list what is in %s: %w", p.binary(), err)
	}
	name := fmt.Sprintf("%s-%s-%s.spdx.json", p.Name, platform.OS, platform.Architecture)
	dir := filepath.Join(b.out, "sbom")
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), bill, 0o644))
}
