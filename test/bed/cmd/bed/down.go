package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

// politeness is how long the supervisor may take to stop the cluster before it is killed.
const politeness = 40 * time.Second

// down stops a cluster, whatever became of its supervisor.
func down(ctx context.Context, o options) error {
	began := time.Now()
	s, found, err := load(o)
	if err != nil {
		return err
	}
	if found {
		if err := end(ctx, s); err != nil {
			return err
		}
	}
	if err := asRoot(ctx, bed.RemoveLeftovers); err != nil {
		return err
	}
	if !found {
		fmt.Println("Nothing was up.")
		return nil
	}
	if err := os.RemoveAll(o.dir); err != nil {
		return fmt.Errorf("remove directory: %w", err)
	}
	fmt.Printf("Down in %.1f s.\n", time.Since(began).Seconds())
	return nil
}

// asRoot leaves out what only root can have done and so only root can undo.
func asRoot(ctx context.Context, undo func(context.Context) error) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return undo(ctx)
}

// end ends the supervisor, which stops the rest. If it was killed the kernel has ended the rest; a server that
// is left all the same is ended by its own identity.
func end(ctx context.Context, s state) error {
	if err := s.Supervisor.Signal(unix.SIGTERM); err != nil {
		return err
	}
	polite, cancel := context.WithTimeout(ctx, politeness)
	defer cancel()
	if err := s.Supervisor.AwaitEnd(polite); err != nil {
		if ctx.Err() != nil {
			return err
		}
		if err := kill(ctx, s.Supervisor); err != nil {
			return err
		}
	}
	if err := asRoot(ctx, bed.ThawLeftovers); err != nil {
		return err
	}
	stop := thawOn(ctx)
	defer stop()
	return endAll(ctx, s.Servers)
}

// thawEvery is how often nodes are thawed while they end.
const thawEvery = time.Second

// thawOn thaws again and again until it is stopped: what is frozen cannot end, and a node that was about to freeze when
// its supervisor was killed may do so after the first thaw.
func thawOn(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(thawEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = asRoot(ctx, bed.ThawLeftovers) // the next one may succeed
			}
		}
	}()
	return func() { cancel(); <-done }
}

func endAll(ctx context.Context, servers map[string]process.Identity) error {
	var errs []error
	for name, server := range servers {
		if err := kill(ctx, server); err != nil {
			errs = append(errs, fmt.Errorf("end %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func kill(ctx context.Context, id process.Identity) error {
	if err := id.Signal(unix.SIGKILL); err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, politeness)
	defer cancel()
	return id.AwaitEnd(patience)
}
