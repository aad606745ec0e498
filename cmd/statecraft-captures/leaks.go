package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
)

// report prints what leaks. What one look found may be on its way, so it looks twice.
func report(ctx context.Context, g leaks.Gatherer, o options, out io.Writer) error {
	found, err := search(ctx, g, o)
	if err != nil {
		return err
	}
	if len(found) > 0 && o.again > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(o.again):
		}
		later, err := search(ctx, g, o)
		if err != nil {
			return err
		}
		found = leaks.Lasting(found, later)
	}
	if len(found) == 0 {
		fmt.Fprintln(out, "No leaks found.")
		return nil
	}
	if err := printLeaks(out, found, time.Now()); err != nil {
		return err
	}
	return errLeaks
}

func search(ctx context.Context, g leaks.Gatherer, o options) ([]leaks.Leak, error) {
	var stored []leaks.Stored
	if o.endpoint != "" { // before the cluster is: what is made meanwhile has an object, then
		var err error
		if stored, err = storedBy(ctx, o.endpoint); err != nil {
			return nil, err
		}
	}
	inv, err := g.Look(ctx)
	if err != nil {
		return nil, err
	}
	inv.Stored = stored
	return leaks.Find(inv, time.Now(), o.patience), nil
}

func printLeaks(out io.Writer, found []leaks.Leak, now time.Time) error {
	w := table(out)
	row(w, "KIND", "NAMESPACE", "NAME", "REASON", "AGE", "MESSAGE")
	for _, l := range found {
		row(w, string(l.Kind), l.Namespace, l.Name, string(l.Reason), age(l.Since, now), l.Message)
	}
	return w.Flush()
}
