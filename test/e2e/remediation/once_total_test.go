//go:build full

package remediation

import (
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// fewestFaulted is how many executions the group faults at least while they are under way.
const fewestFaulted = 40

// faulted counts them by test. The tests of this package run one after another.
var faulted = map[string]int{}

// countFaulted counts an execution that was under way when something was done to it, and whose verdict is compared with what it did.
func (s *once) countFaulted() { faulted[s.Name()]++ }

// TestOnceInTotal is the last test of the group, because its file is: tests run in the order of their files.
func TestOnceInTotal(t *testing.T) {
	total, whole := 0, true
	for _, name := range []string{
		"TestOnceBeforeTheActionRuns", "TestOnceAfterTheActionRan", "TestOnceOnASilentNode", "TestOnceSurvivesKills", "TestOnceWithTwoManagers",
	} {
		total += faulted[name]
		if faulted[name] == 0 {
			whole = false
			t.Logf("%s did not run", name)
		}
	}
	harness.Row(t, "%d executions were faulted while they were under way", total)
	if whole && total < fewestFaulted {
		t.Errorf("%d executions were faulted, want at least %d: %v", total, fewestFaulted, faulted)
	}
}
