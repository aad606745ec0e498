// Mutate breaks code on purpose, one mutant of a table at a time, and fails unless
// the tests catch every one: a claim that no test holds to is not one. Mutants are
// shown to the compiler as an overlay, so the tree is never written to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	only := flag.String("run", "", "only mutants whose claim contains this")
	verbose := flag.Bool("v", false, "print which tests caught each")
	flag.Parse()
	if err := run(flag.Args(), *only, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(tables []string, only string, verbose bool) error {
	start, killed, tried := time.Now(), 0, 0
	for _, path := range tables {
		t, err := read(path)
		if err != nil {
			return err
		}
		if t.keep(only); len(t.mutants) == 0 {
			continue
		}
		n, err := t.killed(context.Background(), verbose)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		killed, tried = killed+n, tried+len(t.mutants)
	}
	fmt.Printf("%d of %d mutants killed in %s\n", killed, tried, time.Since(start).Round(time.Second))
	switch {
	case tried == 0:
		return fmt.Errorf("no claim contains %q", only)
	case killed < tried:
		return fmt.Errorf("%d mutants live: no test holds to their claims", tried-killed)
	}
	return nil
}

// killed is how many mutants of a table the tests catch.
func (t table) killed(ctx context.Context, verbose bool) (n int, err error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left behind in the temporary one harms nobody
	if err := t.expand(ctx); err != nil {
		return 0, err
	}
	d, err := t.settle(ctx, dir)
	if err != nil {
		return 0, err
	}
	if err := t.baseline(ctx, d); err != nil {
		return 0, err
	}
	for fate := range t.hunt(ctx, d, runtime.NumCPU()) {
		if fate.alive == nil {
			n++
		}
		fate.print(verbose)
	}
	return n, nil
}

func (f fate) print(verbose bool) {
	verdict := "killed"
	if f.alive != nil {
		verdict = "ALIVE"
	}
	fmt.Printf("%-7s %5.1fs  %s\n", verdict, f.took.Seconds(), f.claim)
	if f.alive != nil {
		fmt.Printf("        %v\n", f.alive)
	} else if verbose {
		fmt.Printf("        by %s\n", strings.Join(f.by, ", "))
	}
}
