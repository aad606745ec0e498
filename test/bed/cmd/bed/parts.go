package main

import (
	"context"
	"fmt"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// buildParts builds everything, so that no test waits for it later.
func buildParts(ctx context.Context, _ options) error {
	if err := parts.InstallHostTools(ctx); err != nil {
		return err
	}
	for _, part := range parts.All() {
		dir, err := parts.Dir(ctx, part.Name)
		if err != nil {
			return err
		}
		fmt.Printf("%-22s %-9s %s\n", part.Name, part.Version, dir)
	}
	for _, tag := range images.All() {
		archive, err := images.Archive(ctx, tag)
		if err != nil {
			return err
		}
		fmt.Printf("%-22s %-9s %s\n", tag, "", archive)
	}
	return nil
}
