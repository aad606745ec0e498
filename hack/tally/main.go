// Tally sums up a run of several stages: one line of counts, and an error if
// anything failed or was skipped.
//
// Its argument is a folder with a file named stages, one line "name exit-code" per
// stage, and beside it <group>.json as go test -json wrote it. A stage without such
// a file counts as one test; one that failed although no test of it did counts as
// one failure, so that a build that breaks or hangs is not overlooked.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	fmt.Printf("%d passed, %d failed, %d skipped\n", total.passed, total.failed, total.skipped)
	if total.failed+total.skipped > 0 || total.passed == 0 {
		os.Exit(1)
	}
}

type counts struct {
	passed, failed, skipped int
	names                   []string // of what failed or was skipped
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
	failed := map[string]bool{}
	for dec := json.NewDecoder(f); ; {
		var e struct{ Action, Package, Test string }
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return c, nil
		} else if err != nil {
			// NOTE: a stage that was killed leaves half a line; what it did until then counts.
			return c, nil
		}
		c.add(e.Action, e.Package, e.Test, failed)
	}
}

func (c *counts) add(action, pkg, test string, failed map[string]bool) {
	pkg = strings.TrimPrefix(pkg, "github.com/statecraft-dev/statecraft/")
	switch {
	case action == "pass" && test != "":
		c.passed++
	case action == "skip" && test != "":
		c.skipped++
		c.names = append(c.names, fmt.Sprintf("SKIP  %s %s", pkg, test))
	case action == "fail" && (test != "" || !failed[pkg]): // a package that fails without a test, too
		c.failed++
		failed[pkg] = true
		c.names = append(c.names, strings.TrimSpace(fmt.Sprintf("FAIL  %s %s", pkg, test)))
	}
}
