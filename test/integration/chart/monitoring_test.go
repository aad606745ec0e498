package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestMonitoringIsAccepted gives PodMonitors, alerts and dashboards to an API server that has the kinds of the Prometheus
// operator.
func TestMonitoringIsAccepted(t *testing.T) {
	b := bedtest.ControlPlane(t)
	kinds, err := parts.Dir(t.Context(), parts.MonitoringKinds)
	if err != nil {
		t.Fatal(err)
	}
	bedtest.InstallCRDs(t, b, kinds)
	if out, err := b.Kubectl(t.Context(), "create", "namespace", namespace); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const runbooks = "https://example.com/runbooks"
	objects := mustRender(t, "--set=monitoring.podMonitor=true,monitoring.rules=true,monitoring.dashboards=true,networkPolicies.enabled=true",
		"--set=monitoring.labels.release=prometheus", "--set=monitoring.runbooks="+runbooks)
	found := map[string]int{}
	for name, obj := range objects {
		kind := obj.GetKind()
		dashboard := kind == "ConfigMap" && strings.Contains(name, "dashboard")
		monitors := kind == "PodMonitor" || kind == "PrometheusRule" || dashboard
		if !monitors && kind != "NetworkPolicy" {
			continue
		}
		found[kind]++
		text, err := yaml.Marshal(obj.Object)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "object.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := b.Kubectl(t.Context(), "create", "-f", path); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if monitors && obj.GetLabels()["release"] != "prometheus" {
			t.Errorf("%s has the labels %v", name, obj.GetLabels())
		}
		if kind == "PrometheusRule" && (!strings.Contains(string(text), runbooks) || strings.Contains(string(text), "docs/runbooks")) {
			t.Errorf("%s links to another place than values say", name)
		}
		if kind == "PodMonitor" && !strings.Contains(string(text), "honorLabels: true") {
			t.Errorf("%s lets Prometheus overwrite our labels", name)
		}
	}
	for kind, least := range map[string]int{"PodMonitor": 1, "PrometheusRule": 3, "ConfigMap": 2, "NetworkPolicy": 2} {
		if found[kind] < least {
			t.Errorf("%d of %s", found[kind], kind)
		}
	}
}
