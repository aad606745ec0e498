package main

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const label = "org.opencontainers.image."

// labels say what an image is. Those of an image without version are the same in every release.
func labels(p program, version, commit string) map[string]string {
	l := map[string]string{
		label + "title":       p.binary(),
		label + "description": p.Summary,
		label + "source":      "https://" + module,
		label + "licenses":    "Apache-2.0",
	}
	if p.Versioned {
		l[label+"version"] = version
		if commit != "" {
			l[label+"revision"] = commit
		}
	}
	return l
}

// imageOf is the image of a program for one platform, on nothing.
func imageOf(p program, platform v1.Platform, layer v1.Layer, labels map[string]string) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: epoch}}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created = v1.Time{Time: epoch}
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Config = v1.Config{
		Entrypoint: []string{"/" + p.binary()}, User: user, Env: []string{"PATH=/"}, WorkingDir: "/",
		Labels: labels,
	}
	return mutate.ConfigFile(image, config)
}

// indexOf is what a registry calls an image of several platforms; its digest is what pods name.
func indexOf(images []v1.Image, platforms []v1.Platform) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, image := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &platforms[i]},
		})
	}
	return index
}
