package monitoring

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Panel is one query of a dashboard.
type Panel struct {
	Title string
	Query string // with all variables filled in
}

// dashboard is what we look at in one of Grafana's.
type dashboard struct {
	UID        string `json:"uid"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID          int    `json:"id"`
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Targets     []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

func readDashboard(t testing.TB, area string) (d dashboard) {
	t.Helper()
	readConfig(t, filepath.Join("dashboards", area+".json"), &d)
	return d
}

// all is what Grafana fills in where a user has chosen nothing.
var all = strings.NewReplacer("$namespace", ".*", "$name", ".*", "$__rate_interval", "1m")

// Panels are the queries of an area's dashboard, over all objects.
func Panels(t testing.TB, area string) (list []Panel) {
	t.Helper()
	for _, p := range readDashboard(t, area).Panels {
		for i, target := range p.Targets {
			list = append(list, Panel{fmt.Sprintf("%s (%d)", p.Title, i+1), all.Replace(target.Expr)})
		}
	}
	if len(list) == 0 {
		t.Fatalf("the dashboard of area %s asks for nothing", area)
	}
	return list
}
