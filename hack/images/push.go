package main

import (
	"context"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pushAll puts images into a registry, tagged with their version, and says by which digest to name them. It logs
// on as the user's other tools do: from the configuration that `docker login` and its like write.
func pushAll(ctx context.Context, images []built, registry string, insecure bool, out io.Writer) error {
	for _, image := range images {
		repository, err := repository(registry, image.name, insecure)
		if err != nil {
			return err
		}
		options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
		if err := remote.WriteIndex(repository.Tag(image.version), image.index, options...); err != nil {
			return fmt.Errorf("push %s: %w", repository.Tag(image.version), err)
		}
		fmt.Fprintln(out, repository.Digest(image.digest.String()))
	}
	return nil
}

func repository(registry, image string, insecure bool) (name.Repository, error) {
	var options []name.Option
	if insecure {
		options = append(options, name.Insecure)
	}
	repository, err := name.NewRepository(registry+"/"+image, options...)
	if err != nil {
		return name.Repository{}, fmt.Errorf("name image %s: %w", image, err)
	}
	return repository, nil
}
