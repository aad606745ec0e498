package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/docs/runbooks"
	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

var (
	row    = regexp.MustCompile("(?m)^\\| `([A-Za-z_]+)` \\|")
	metric = regexp.MustCompile(`statecraft_[a-z_]+`)
	link   = regexp.MustCompile(`docs/runbooks/([a-z]+\.md)#([a-z-]+)`)
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
	sections, err := runbooks.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if s.Title == s.Chapter && len(s.Acts) == 0 || led[s.Page+".md#"+s.Anchor] {
			continue
		}
		for _, reason := range s.Reasons() {
			if !known[reason] {
				t.Errorf("%s: no machine has the reason %s, and no alert leads there", s.Link(), reason)
			}
		}
		if len(s.Acts) == 0 {
			t.Errorf("%s does not say who acts", s.Link())
		}
	}
}

// asWished are reasons of objects that are what they should be, so that no person asks why.
var asWished = []string{
	"Completed", "AllCurrent", "ClusterHealthy", "AccessApplied", "ConfigApplied", "UpToDate", // reached
	"ExecutionCompleted", "ExecutionCompletedPermanent", "RemediationCompleted", // done, and verified
	"Following", "Counting", "ObjectBack", "NothingToDo", // at rest
	"FunctionsReady", "Answering", "NFRObserved", "NFREnforced", "AllNFREnforced", "NFRApplied", "NFRRetaken", // of a class
}

// Whatever an object can be waited for, held or given up with is in a runbook: its page of messages
// has all that is said with a reason.
func TestEveryReasonHasASection(t *testing.T) {
	kernel, err := constants("../..", "internal/fsm", "internal/kube")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range kernel {
		if _, found := runbooks.Find("", "", c.value); !found && c.kind == "Reason" && c.value != string(fsm.Awaited) {
			t.Errorf("no section explains the kernel's reason %s", c.value)
		}
	}
	for _, a := range areas.All() {
		for _, m := range a.Machines {
			for _, reason := range said(t, machine{m}) {
				if _, found := runbooks.Find(a.Name, m.Kind, reason, a.KindNames()...); !found && !slices.Contains(asWished, reason) {
					t.Errorf("docs/runbooks/%s.md: no section explains the reason %s of a %s", a.Name, reason, m.Kind)
				}
			}
		}
	}
}

// said are the reasons with words of their own. Those that are excused because it takes other
// worlds to say them belong to the status as well; others stand in lists of objects.
func said(t *testing.T, m machine) (reasons []string) {
	t.Helper()
	text, err := m.messages("../..", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range row.FindAllStringSubmatch(text, -1) {
		reasons = append(reasons, found[1])
	}
	for _, reason := range excused[m.Kind] {
		if m.Shared == "" && reason != "EditUndone" { // which is an event
			reasons = append(reasons, reason)
		}
	}
	return reasons
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
	sections, err := runbooks.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		anchors[s.Page+".md#"+s.Anchor] = true
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
