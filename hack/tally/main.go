// Tally sums up a run of several stages: one line of counts, and an error if
// anything failed or was skipped.
//
// Its argument is a folder with a file named stages, one line "name exit-code" per
// stage, and beside it <group>.json as go test -json wrote it. A stage without such
// a file counts as one test; one that failed although no test of it did counts as
// one failure, so that a build that breaks or hangs is not overlooked. A test that was
// tried twice is what it was the second time, and is named as unsteady if it failed before.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	total, err := tally(os.DirFS(filepath.Clean(os.Args[1])))
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
	for _, name := range total.names {
		fmt.Println(name)
	}
	fmt.Printf("%d passed, %d failed, %d skipped, %d of those that passed at the second try only\n", total.passed, total.failed, total.skipped, total.unsteady)
	if total.failed+total.skipped > 0 || total.passed == 0 || total.unsteady > mostUnsteady {
		os.Exit(1)
	}
}

// mostUnsteady is how many tests may pass at the second try only: a run with more proves nothing.
const mostUnsteady = 3

type counts struct {
	passed, failed, skipped, unsteady int

	names []string // of what failed, was skipped, or is unsteady
}

func tally(dir fs.FS) (total counts, err error) {
	stages, err := fs.ReadFile(dir, "stages")
	if err != nil {
		return total, fmt.Errorf("read stages: %w", err)
	}
	for line := range strings.Lines(string(stages)) {
		var name string
		var code int
		if _, err := fmt.Sscan(line, &name, &code); err != nil {
			return total, fmt.Errorf("read stage %q: %w", line, err)
		}
		c, err := read(dir, name)
		if err != nil {
			return total, err
		}
		switch {
		case code != 0 && c.failed == 0:
			c.failed++
			c.names = append(c.names, fmt.Sprintf("FAIL  %s ended with %d", name, code))
		case code == 0 && c.passed+c.failed+c.skipped == 0:
			c.passed++
		}
		total.passed += c.passed
		total.failed += c.failed
		total.skipped += c.skipped
		total.unsteady += c.unsteady
		total.names = append(total.names, c.names...)
	}
	return total, nil
}

// read counts the tests of one stage, those with subtests included as gotestsum does.
func read(dir fs.FS, stage string) (c counts, err error) {
	f, err := dir.Open(stage + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	tests := results{}
	for dec := json.NewDecoder(f); ; {
		var e struct{ Action, Package, Test string }
		// NOTE: a stage that was killed leaves half a line; what it did until then counts.
		if err := dec.Decode(&e); err != nil {
			return tests.count(), nil
		}
		tests.add(strings.TrimPrefix(e.Package, module), e.Test, e.Action)
	}
}
