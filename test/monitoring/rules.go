package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// Rules are those of a PrometheusRule, in the form that Prometheus and promtool read.
type Rules struct {
	Groups []Group `json:"groups"`
}

// Group is a group of alerts.
type Group struct {
	Name  string  `json:"name"`
	Rules []Alert `json:"rules"`
}

// Alert is one alerting rule.
type Alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Alerts are all of a set of rules.
func (r Rules) Alerts() (all []Alert) {
	for _, g := range r.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// Within lets no alert wait for longer before it fires.
func (r Rules) Within(t testing.TB, longest time.Duration) Rules {
	t.Helper()
	var short Rules
	for _, g := range r.Groups {
		g.Rules = append([]Alert(nil), g.Rules...)
		for i := range g.Rules {
			if waits := g.Rules[i].For; waits != "" {
				d, err := time.ParseDuration(waits)
				if err != nil {
					t.Fatalf("%s: %v", g.Rules[i].Alert, err)
				}
				g.Rules[i].For = min(d, longest).String()
			}
		}
		short.Groups = append(short.Groups, g)
	}
	return short
}

// Write writes rules for Prometheus into a folder, and returns the file.
func (r Rules) Write(t testing.TB, folder, name string) string {
	t.Helper()
	text, err := yaml.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, name+".yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// ReadRules reads config/alerts/NAME.yaml.
func ReadRules(t testing.TB, name string) Rules {
	t.Helper()
	var manifest struct {
		Kind string `json:"kind"`
		Spec Rules  `json:"spec"`
	}
	readConfig(t, filepath.Join("alerts", name+".yaml"), &manifest)
	if manifest.Kind != "PrometheusRule" || len(manifest.Spec.Alerts()) == 0 {
		t.Fatalf("config/alerts/%s.yaml has no alerts", name)
	}
	return manifest.Spec
}

// readConfig reads a file of config, YAML or JSON.
func readConfig(t testing.TB, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(readFile(t, filepath.Join("config", path)), into); err != nil {
		t.Fatalf("read config/%s: %v", path, err)
	}
}

// readFile reads a file of the checkout.
func readFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decode reads JSON, and tells what was read if it is none.
func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %.200s: %w", text, err)
	}
	return nil
}
