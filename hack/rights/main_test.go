package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/statecraft-dev/statecraft/hack/rights/ledger"
	"github.com/statecraft-dev/statecraft/internal/areas"
)

// Without any log: a right that was taken from a role takes its reason with it.
func TestReasonsAreForWhatIsGranted(t *testing.T) {
	granted, err := grants()
	if err != nil {
		t.Fatal(err)
	}
	because, err := ledger.ParseReasons(reasons)
	if err != nil {
		t.Fatal(err)
	}
	if err := verdict(io.Discard, ledger.Judgement{NotGranted: ledger.New(granted).Judge(because).NotGranted}); err != nil {
		t.Error(err)
	}
}

// Each area has an account; besides there is that of restorers, and those as whom the manager of area capture acts.
func TestEveryAccountIsThere(t *testing.T) {
	granted, err := grants()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range ledger.New(granted).Accounts() {
		names = append(names, a.Name)
	}
	want := []string{"statecraft-restorer", tenantAccount}
	for _, a := range areas.All() {
		want = append(want, "statecraft-"+a.Name)
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("accounts %q, want %q", names, want)
	}
}

// A log that ends within a line, as one of a killed bed does, is read up to there; one that cannot be read is no proof.
func TestLogs(t *testing.T) {
	granted, err := grants()
	if err != nil {
		t.Fatal(err)
	}
	for content, fails := range map[string]bool{"{}\n{\"stage": false, "{}\nnonsense\n": true} {
		path := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := enter(ledger.New(granted), path); (err != nil) != fails {
			t.Errorf("%q: %v", content, err)
		}
	}
	if run(io.Discard, nil) == nil {
		t.Error("no log is enough")
	}
}
