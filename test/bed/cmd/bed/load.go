package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

var errNothingUp = errors.New("no cluster with nodes is up; start one with: make bed-up")

// loadImages loads an archive into every node of the cluster that is up.
func loadImages(ctx context.Context, o options) error {
	s, found, err := load(o)
	if err != nil {
		return err
	}
	if !found || len(s.NodePIDs) == 0 || !s.Supervisor.Alive() {
		return errNothingUp
	}
	for _, pid := range s.NodePIDs {
		archive, err := os.Open(o.args[0])
		if err != nil {
			return fmt.Errorf("open archive: %w", err)
		}
		err = bed.ImportInto(ctx, pid, archive)
		if err := errors.Join(err, archive.Close()); err != nil {
			return err
		}
	}
	return nil
}

// printProgram builds a part if it is missing, and prints the path of the program that it is named after.
func printProgram(ctx context.Context, o options) error {
	parts.Progress = os.Stderr
	dir, err := parts.Dir(ctx, o.args[0])
	if err != nil {
		return err
	}
	fmt.Println(filepath.Join(dir, o.args[0]))
	return nil
}
