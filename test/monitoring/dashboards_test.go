package monitoring

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/areas"
)

var metric = regexp.MustCompile(`statecraft_[a-z_]+`)

// Every panel's query is one that Prometheus can read, and asks for metrics that are served.
func TestDashboardsAskForWhatIsServed(t *testing.T) {
	served := string(readFile(t, "docs/reference/metrics.md"))
	for _, a := range areas.All() {
		t.Run(a.Name, func(t *testing.T) {
			var rules strings.Builder
			rules.WriteString("groups:\n- name: panels\n  rules:\n")
			for i, p := range Panels(t, a.Name) {
				fmt.Fprintf(&rules, "  - record: panel%d\n    expr: %q\n", i, p.Query)
				for _, name := range metric.FindAllString(p.Query, -1) {
					if !strings.Contains(served, "`"+strings.TrimSuffix(name, "_bucket")+"`") {
						t.Errorf("%s: nobody serves %s", p.Title, name)
					}
				}
			}
			file := filepath.Join(t.TempDir(), "panels.yaml")
			if err := os.WriteFile(file, []byte(rules.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			promtool(t, "check", "rules", file)
		})
	}
}

// Every panel says what it shows, and can be narrowed to one object.
func TestDashboardsAreComplete(t *testing.T) {
	for _, a := range areas.All() {
		d := readDashboard(t, a.Name)
		if d.UID != "statecraft-"+a.Name {
			t.Errorf("the dashboard of area %s is called %s", a.Name, d.UID)
		}
		ids, variables := map[int]bool{}, map[string]bool{}
		for _, v := range d.Templating.List {
			variables[v.Name] = true
		}
		for _, p := range d.Panels {
			if ids[p.ID] || p.Type != "row" && (p.Title == "" || p.Description == "" || len(p.Targets) == 0) {
				t.Errorf("area %s: panel %d %q lacks an ID of its own, a description or a query", a.Name, p.ID, p.Title)
			}
			ids[p.ID] = true
		}
		if !variables["datasource"] || !variables["namespace"] || !variables["name"] {
			t.Errorf("area %s: variables are %v", a.Name, variables)
		}
	}
}
