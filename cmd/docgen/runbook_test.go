package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

var (
	row     = regexp.MustCompile("(?m)^\\| `([A-Za-z_]+)` \\|")
	heading = regexp.MustCompile(`(?m)^##+ (.+)$`)
	metric  = regexp.MustCompile(`statecraft_[a-z_]+`)
	link    = regexp.MustCompile(`docs/runbooks/([a-z]+\.md)#([a-z-]+)`)
)

// Runbooks speak of reasons that exist.
func TestRunbooksKnowTheirReasons(t *testing.T) {
	known := map[string]bool{}
	for _, m := range machines() {
		known[m.Kind] = true
	}
	for _, page := range read(t, "docs/reference/*.md") {
		for _, found := range row.FindAllStringSubmatch(page, -1) {
			known[found[1]] = true
		}
	}
	led := map[string]bool{} // by an alert
	for _, rules := range read(t, "config/alerts/*.yaml") {
		for _, found := range link.FindAllStringSubmatch(rules, -1) {
			led[found[1]+"#"+found[2]] = true
		}
	}
	for path, page := range read(t, "docs/runbooks/*.md") {
		for _, found := range heading.FindAllStringSubmatch(page, -1) {
			if !known[found[1]] && !led[path+"#"+anchor(found[1])] {
				t.Errorf("%s: no machine has the reason %s, and no alert leads there", path, found[1])
			}
		}
	}
}

// A request whose clean-up hangs ends all the same: an alert that waits for longer never fires.
func TestAHangingCleanUpIsToldBeforeItEnds(t *testing.T) {
	waits := regexp.MustCompile(`phase="CleaningUp".*\n +for: ([0-9a-z]+)`)
	found := waits.FindStringSubmatch(read(t, "config/alerts/capture.yaml")["capture.yaml"])
	if found == nil {
		t.Fatal("no alert waits for it")
	}
	if after, err := time.ParseDuration(found[1]); err != nil || after >= request.Cleaning {
		t.Errorf("told after %s, ended after %s: %v", found[1], request.Cleaning, err)
	}
}

// Alerts ask for metrics that are served, and lead to a place in a runbook.
func TestAlertsLeadSomewhere(t *testing.T) {
	metrics := read(t, "docs/reference/metrics.md")["metrics.md"]
	anchors := map[string]bool{}
	for path, page := range read(t, "docs/runbooks/*.md") {
		for _, line := range strings.Split(page, "\n") {
			if title := strings.TrimLeft(line, "# "); title != line && strings.HasPrefix(line, "#") {
				anchors[path+"#"+anchor(title)] = true
			}
		}
	}
	for path, rules := range read(t, "config/alerts/*.yaml") {
		for _, name := range metric.FindAllString(rules, -1) {
			if !strings.Contains(metrics, "`"+name+"`") {
				t.Errorf("%s: nobody serves %s", path, name)
			}
		}
		for _, found := range link.FindAllStringSubmatch(rules, -1) {
			if !anchors[found[1]+"#"+found[2]] {
				t.Errorf("%s: %s leads nowhere", path, found[0])
			}
		}
		if alerts, links := strings.Count(rules, "- alert:"), len(link.FindAllString(rules, -1)); alerts != links {
			t.Errorf("%s: %d alerts, %d runbooks", path, alerts, links)
		}
	}
}

// anchor is what a link calls a heading.
func anchor(heading string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(heading, ":", ""), " ", "-"))
}

func read(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: nothing found, %v", pattern, err)
	}
	pages := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(path)] = string(text)
	}
	return pages
}
