// Mutate breaks code on purpose, one mutant of a table at a time, and fails unless
// the tests catch every one: a claim that no test holds to is not one. Mutants are
// shown to the compiler as an overlay, so the tree is never written to.
package main

import (
	"context"
	"errors"
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
	budget := flag.Duration("budget", 0, "begin no mutant after so long; 0 is to try them all")
	seed := flag.Uint64("seed", 0, "which mutants come first; 0 is one by the clock")
	flag.Parse()
	if err := run(flag.Args(), *only, *verbose, newSample(*budget, *seed)); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(files []string, only string, verbose bool, s *sample) error {
	tables, all, err := readAll(files, only)
	if err != nil {
		return err
	}
	if all == 0 {
		return fmt.Errorf("no claim contains %q", only)
	}
	killed, tried := 0, 0
	for _, i := range s.order(len(tables)) {
		if s.over() {
			break
		}
		k, n, err := tables[i].killed(context.Background(), s, verbose)
		if err != nil {
			return fmt.Errorf("%s: %w", tables[i].path, err)
		}
		killed, tried = killed+k, tried+n
	}
	fmt.Printf("%d of %d mutants killed in %s, %s\n", killed, tried, s.took().Round(time.Second), s.coverage(tried, all))
	switch {
	case tried == 0:
		return errors.New("the budget was spent before the first mutant was tried")
	case killed < tried:
		return fmt.Errorf("%d mutants live: no test holds to their claims", tried-killed)
	}
	return nil
}

// readAll reads tables, and leaves only mutants whose claim contains some words. all is how many these are.
func readAll(files []string, only string) (tables []table, all int, err error) {
	for _, path := range files {
		t, err := read(path)
		if err != nil {
			return nil, 0, err
		}
		if t.keep(only); len(t.mutants) > 0 {
			tables, all = append(tables, t), all+len(t.mutants)
		}
	}
	return tables, all, nil
}

// killed is how many mutants of a table the tests catch, of those that were tried.
func (t table) killed(ctx context.Context, s *sample, verbose bool) (killed, tried int, err error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left behind in the temporary one harms nobody
	if err := t.expand(ctx); err != nil {
		return 0, 0, err
	}
	d, err := t.settle(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	if err := t.baseline(ctx, d); err != nil {
		return 0, 0, err
	}
	for fate := range t.hunt(ctx, d, s, runtime.NumCPU()) {
		tried++
		if fate.alive == nil {
			killed++
		}
		fate.print(verbose)
	}
	return killed, tried, nil
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
