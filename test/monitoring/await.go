package monitoring

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// AwaitSeries waits until so many series answer to a query.
func (p *Prometheus) AwaitSeries(t testing.TB, query string, want int) {
	t.Helper()
	harness.Eventually(t, timeout.Wait, poll, func() error {
		found, err := p.Query(query)
		if err == nil && len(found) != want {
			err = fmt.Errorf("%s: %d series, want %d: %v", query, len(found), want, found)
		}
		return err
	})
}

// AwaitAlert waits until an alert fires with these labels, besides its name and severity.
func (p *Prometheus) AwaitAlert(t testing.TB, alert string, want map[string]string) {
	t.Helper()
	harness.Eventually(t, timeout.Wait, poll, func() error {
		firing, err := p.Firing(alert)
		if err != nil {
			return err
		}
		for _, f := range firing {
			maps.DeleteFunc(f.Labels, func(name, _ string) bool { return name == "alertname" || name == "severity" })
			if maps.Equal(f.Labels, want) {
				t.Logf("%s %v: %s", alert, want, f.Annotations["summary"])
				return nil
			}
		}
		return fmt.Errorf("%s does not fire for %v: %v", alert, want, firing)
	})
}

// AwaitPanels waits until every panel of an area's dashboard shows something, but for those that cannot.
func (p *Prometheus) AwaitPanels(t testing.TB, area string, but ...string) {
	t.Helper()
	for _, panel := range Panels(t, area) {
		if slices.Contains(but, panel.Title) {
			continue
		}
		harness.Eventually(t, timeout.Wait, poll, func() error {
			found, err := p.Query(panel.Query)
			if err == nil && len(found) == 0 {
				err = fmt.Errorf("area %s: %s shows nothing: %s", area, panel.Title, panel.Query)
			}
			return err
		})
	}
}
