package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fate is what became of one mutant.
type fate struct {
	mutant
	by    []string // the tests that caught it
	alive error    // why it lives, or proves nothing
	took  time.Duration
}

// hunt tries so many mutants at a time, and yields their fates in the order of the table.
func (t table) hunt(ctx context.Context, atATime int) iter.Seq[fate] {
	fates := make([]chan fate, len(t.mutants))
	free := make(chan struct{}, atATime)
	for i, m := range t.mutants {
		fates[i] = make(chan fate, 1)
		go func() {
			free <- struct{}{}
			began := time.Now()
			by, alive := try(ctx, m, t.tests)
			fates[i] <- fate{m, by, alive, time.Since(began)}
			<-free
		}()
	}
	return func(yield func(fate) bool) {
		for _, f := range fates {
			if !yield(<-f) {
				return
			}
		}
	}
}

// baseline runs the tests over the code as it is: if they fail without a mutant,
// that they fail with one proves nothing.
func (t table) baseline(ctx context.Context) error {
	args := append([]string{"test", "-vet=off"}, t.tests...)
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("the tests fail without a mutant:\n%s", out)
	}
	return nil
}

// try runs the tests over the mutant until some fail, and returns which. The error
// says why the mutant is alive, or was none.
func try(ctx context.Context, m mutant, tests []string) ([]string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left behind in the temporary one harms nobody
	overlay, err := m.shadow(dir)
	if err != nil {
		return nil, err
	}
	for _, packages := range tests {
		// A mutant may also loop for ever: that, too, is caught.
		cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout=60s", packages)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return judge(string(out))
		}
	}
	return nil, fmt.Errorf("every test of %s passes", strings.Join(tests, " and "))
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge reads from the output of a run that failed whether a test did, and which.
func judge(output string) (by []string, alive error) {
	switch {
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return nil, fmt.Errorf("does not build, which proves nothing:\n%s", output)
	case strings.Contains(output, "panic: test timed out"):
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
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: shown}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(shown, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600))
}
