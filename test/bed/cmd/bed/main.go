// Command bed runs the test bed by hand.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

const usage = `usage: bed parts    build everything the bed runs into the cache`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 || os.Args[1] != "parts" {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := buildParts(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bed:", err)
		os.Exit(1)
	}
}

func buildParts(ctx context.Context) error {
	for _, part := range parts.All() {
		dir, err := parts.Dir(ctx, part.Name)
		if err != nil {
			return err
		}
		fmt.Printf("%-12s %-10s %s\n", part.Name, part.Version, dir)
	}
	return nil
}
