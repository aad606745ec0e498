package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// ruleFiles are the names of the files in config/alerts: one per area, and one for all.
func ruleFiles() []string {
	names := []string{"statecraft"}
	for _, a := range areas.All() {
		names = append(names, a.Name)
	}
	return names
}

// promtool runs Prometheus' own tool, and fails the test with what it says.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	programs, err := parts.Dir(t.Context(), parts.Prometheus)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(programs, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// alertTests is what we look at in a file of tests for promtool.
type alertTests struct {
	Tests []struct {
		Name      string `json:"name"`
		AlertTest []struct {
			Alert    string `json:"alertname"`
			Expected []struct {
				Labels map[string]string `json:"exp_labels"`
			} `json:"exp_alerts"`
		} `json:"alert_rule_test"`
	} `json:"tests"`
}

// Every alert fires where it must, with the labels and the words that are expected, and only there.
func TestAlertsFire(t *testing.T) {
	for _, name := range ruleFiles() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ReadRules(t, name).Write(t, dir, name)
			tests := filepath.Join(dir, name+"-tests.yaml")
			if err := os.WriteFile(tests, readFile(t, "test/monitoring/alerts/"+name+".yaml"), 0o644); err != nil {
				t.Fatal(err)
			}
			promtool(t, "test", "rules", tests)
		})
	}
}

// A test in which an alert never fires does not show that it can, and one in which it always fires does not
// show that it waits.
func TestEveryAlertIsTriedBothWays(t *testing.T) {
	for _, name := range ruleFiles() {
		var tests alertTests
		if err := yaml.Unmarshal(readFile(t, "test/monitoring/alerts/"+name+".yaml"), &tests); err != nil {
			t.Fatal(err)
		}
		fires, silent := map[string]bool{}, map[string]bool{}
		for _, test := range tests.Tests {
			for _, try := range test.AlertTest {
				fires[try.Alert] = fires[try.Alert] || len(try.Expected) > 0
				silent[try.Alert] = silent[try.Alert] || len(try.Expected) == 0
			}
		}
		for _, a := range ReadRules(t, name).Alerts() {
			if !fires[a.Alert] || !silent[a.Alert] {
				t.Errorf("%s: test/monitoring/alerts/%s.yaml tries whether it fires: %v, whether it does not: %v", a.Alert, name, fires[a.Alert], silent[a.Alert])
			}
		}
	}
}

// An alert about objects says which one it is about, by labels and in words.
func TestAlertsNameTheObject(t *testing.T) {
	about := []string{"statecraft_object_info", "statecraft_object_phase", "statecraft_object_deadline", "statecraft_object_failures", "statecraft_object_available", "statecraft_valkey_"}
	named := 0
	for _, file := range ruleFiles() {
		for _, a := range ReadRules(t, file).Alerts() {
			if !strings.Contains(a.Expr, "unless on (kind) statecraft_object_info") && slices.ContainsFunc(about, func(m string) bool { return strings.Contains(a.Expr, m) }) {
				named++
				if !strings.Contains(a.Expr, "name) (") || !strings.Contains(a.Annotations["summary"], "{{ $labels.name }}") {
					t.Errorf("%s names no object: %s", a.Alert, a.Annotations["summary"])
				}
				if !strings.Contains(a.Expr, "kind, ") && a.Labels["kind"] == "" {
					t.Errorf("%s does not say of which kind the object is", a.Alert)
				}
			}
		}
	}
	if named < 15 {
		t.Errorf("only %d alerts name an object", named)
	}
}
