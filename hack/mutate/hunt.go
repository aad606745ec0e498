package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// fate is what became of one mutant.
type fate struct {
	mutant
	by    []string // the tests that caught it
	alive error    // why it lives, or proves nothing
	took  time.Duration
}

// hunt tries so many mutants at a time, and yields the fates of those that the sample has time for.
func (t table) hunt(ctx context.Context, d *den, s *sample, atATime int) iter.Seq[fate] {
	next, fates := make(chan int), make(chan fate)
	go func() {
		defer close(next)
		for _, i := range s.order(len(t.mutants)) {
			if s.over() {
				return
			}
			next <- i
		}
	}()
	var hunters sync.WaitGroup
	for range atATime {
		hunters.Go(func() {
			for i := range next {
				began := time.Now()
				by, alive := d.try(ctx, nameOf(i), t.mutants[i])
				fates <- fate{t.mutants[i], by, alive, time.Since(began)}
			}
		})
	}
	go func() {
		hunters.Wait()
		close(fates)
	}()
	return func(yield func(fate) bool) {
		for f := range fates {
			if !yield(f) {
				return
			}
		}
	}
}

// expand names every package that the tests of a table are in: those that have no tests
// are left out.
func (t table) expand(ctx context.Context) error {
	known := map[string][]string{}
	for i, m := range t.mutants {
		var tests []test
		for _, all := range m.tests {
			if known[all.packages] == nil {
				const format = `{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}`
				out, err := exec.CommandContext(ctx, "go", "list", "-f", format, all.packages).Output()
				if err != nil {
					return fmt.Errorf("list %s: %w", all.packages, err)
				}
				known[all.packages] = strings.Fields(string(out))
			}
			for _, pkg := range known[all.packages] {
				tests = append(tests, test{pkg, all.run, all.skip})
			}
		}
		t.mutants[i].tests = tests
	}
	return nil
}

// settle builds the tests with all mutants in them. Mutants that do not build are left out,
// to be built alone and to say so.
func (t table) settle(ctx context.Context, dir string) (*den, error) {
	var left []string
	for {
		d, err := t.prepare(dir, left...)
		if err != nil {
			return nil, err
		}
		err = t.build(ctx, d)
		if err == nil {
			return d, nil
		}
		more := blame(err.Error())
		if len(more) == 0 || slices.Contains(left, more[0]) {
			return nil, err
		}
		left = append(left, more...)
	}
}

func (t table) build(ctx context.Context, d *den) error {
	for _, one := range t.tests() {
		if _, err := d.tests(ctx, one.packages); err != nil {
			return err
		}
	}
	return nil
}

// tests are those of all mutants.
func (t table) tests() (all []test) {
	for _, m := range t.mutants {
		for _, one := range m.tests {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// baseline runs the tests over the code as it is: if they fail without a mutant,
// that they fail with one proves nothing.
func (t table) baseline(ctx context.Context, d *den) error {
	for _, one := range t.tests() {
		b, err := d.tests(ctx, one.packages)
		if err != nil {
			return err
		}
		out, err := b.run(ctx, "", one)
		if err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant:\n%s", one, out)
		}
		if strings.Contains(out, "no tests to run") {
			return fmt.Errorf("there is no test %s", one)
		}
	}
	return nil
}

// try runs the tests over the mutant until some fail, and returns which. The error
// says why the mutant is alive, or was none.
func (d *den) try(ctx context.Context, name string, m mutant) ([]string, error) {
	if d.alone[name] {
		return m.tryAlone(ctx)
	}
	for _, t := range m.tests {
		b, err := d.tests(ctx, t.packages)
		if err != nil {
			return nil, err
		}
		if out, err := b.run(ctx, name, t); err != nil {
			return judge(out)
		}
	}
	return nil, m.survived()
}

// tryAlone builds and tests one mutant.
func (m mutant) tryAlone(ctx context.Context) ([]string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left behind in the temporary one harms nobody
	overlay, err := m.shadow(dir)
	if err != nil {
		return nil, err
	}
	for i, t := range m.tests {
		b := &binary{file: filepath.Join(dir, fmt.Sprintf("%d.test", i)), folder: t.packages}
		if err := b.build(ctx, overlay); err != nil {
			return nil, fmt.Errorf("does not build, which proves nothing: %w", err)
		}
		// A mutant may also loop for ever: that, too, is caught.
		if out, err := b.run(ctx, "", t); err != nil {
			return judge(out)
		}
	}
	return nil, m.survived()
}

func (m mutant) survived() error {
	var tried []string
	for _, t := range m.tests {
		tried = append(tried, t.String())
	}
	return fmt.Errorf("every test of %s passes", strings.Join(tried, " and "))
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge reads from the output of a run that failed whether a test did, and which.
func judge(output string) (by []string, alive error) {
	if strings.Contains(output, "panic: test timed out") {
		return []string{"a time-out"}, nil
	}
	for _, match := range failed.FindAllStringSubmatch(output, -1) {
		by = append(by, match[1])
	}
	switch {
	case len(by) > 0:
		return by, nil
	case strings.Contains(output, "panic: "):
		return []string{"a panic"}, nil
	}
	return nil, fmt.Errorf("no test failed, and yet:\n%s", output)
}

// shadow writes the mutant into dir and returns the overlay that shows it in place
// of the file.
func (m mutant) shadow(dir string) (string, error) {
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("no longer applies: %w", err)
	}
	text, err := m.apply(string(source))
	if err != nil {
		return "", fmt.Errorf("no longer applies: %w", err)
	}
	shown, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(shown, []byte(text), 0o600); err != nil {
		return "", err
	}
	return overlay, writeOverlay(overlay, map[string]string{original: shown})
}
