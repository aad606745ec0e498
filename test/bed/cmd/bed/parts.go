package main

import (
	"context"
	"fmt"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// needs says which parts and images the tests of a level use.
func needs(level string) (programs []parts.Part, tags []string, err error) {
	switch level {
	case "core":
		return parts.Core(), images.Core(), nil
	case "full":
		return parts.All(), images.All(), nil
	}
	return nil, nil, errUsage
}

// buildParts builds everything that a level needs, so that no test waits for it later.
func buildParts(ctx context.Context, o options) error {
	programs, tags, err := needs(o.level)
	if err != nil {
		return err
	}
	if err := parts.InstallHostTools(ctx); err != nil {
		return err
	}
	for _, part := range programs {
		dir, err := parts.Dir(ctx, part.Name)
		if err != nil {
			return err
		}
		fmt.Printf("%-22s %-9s %s\n", part.Name, part.Version, dir)
	}
	for _, tag := range tags {
		archive, err := images.Archive(ctx, tag)
		if err != nil {
			return err
		}
		fmt.Printf("%-22s %-9s %s\n", tag, "", archive)
	}
	return nil
}
