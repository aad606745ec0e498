package monitoring

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Values make the chart install what the Prometheus operator needs.
const Values = "--set=monitoring.podMonitor=true,monitoring.rules=true"

// alertsWithin is how long an alert of a test may wait before it fires.
const alertsWithin = 2 * time.Second

// operator is the API group of the Prometheus operator.
var operator = schema.GroupVersion{Group: "monitoring.coreos.com", Version: "v1"}

// podMonitor is the spec of a PodMonitor, with the settings that Start follows. It is read strictly: whoever makes the chart
// set another one must make Start follow that, too.
type podMonitor struct {
	Selector  metav1.LabelSelector `json:"selector"`
	Endpoints []endpoint           `json:"podMetricsEndpoints"`
}

// endpoint says how a port of pods is scraped.
type endpoint struct {
	Port        string `json:"port"`
	Scheme      string `json:"scheme,omitempty"`
	Path        string `json:"path,omitempty"`
	Interval    string `json:"interval,omitempty"` // tests scrape more often
	HonorLabels bool   `json:"honorLabels,omitempty"`
	TLSConfig   struct {
		InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
	} `json:"tlsConfig,omitempty"`
	Authorization *struct {
		Type        string                   `json:"type,omitempty"`
		Credentials corev1.SecretKeySelector `json:"credentials"`
	} `json:"authorization,omitempty"`
}

// InstallKinds installs those of the Prometheus operator.
func InstallKinds(t testing.TB, b *bed.Bed) {
	t.Helper()
	kinds, err := parts.Dir(t.Context(), parts.MonitoringKinds)
	if err != nil {
		t.Fatal(err)
	}
	bedtest.InstallCRDs(t, b, kinds)
}

// InstallMonitoring applies what the chart has for monitoring, without the managers.
func InstallMonitoring(t testing.TB, b *bed.Bed) {
	t.Helper()
	InstallKinds(t, b)
	manifest, err := b.Helm(t.Context(), "template", "statecraft", filepath.Join(harness.Root(t), "charts", "statecraft"), Values,
		"--namespace="+harness.SystemNamespace, "--show-only=templates/monitoring.yaml",
		"--show-only=templates/generated/statecraft/rbac-metrics-reader.yaml")
	if err != nil {
		t.Fatal(err)
	}
	harness.Apply(t, b, manifest)
}

// ReadConfig does what the Prometheus operator does: from the PodMonitor and the PrometheusRules that the chart has installed
// in a namespace, it makes what a Prometheus is told. Only the targets are missing; alerts do not wait for long.
func ReadConfig(t testing.TB, c client.Client, namespace string) Config {
	t.Helper()
	config := Config{scrape: readMonitor(t, c, namespace).Endpoints[0]}
	if login := config.scrape.Authorization; login != nil {
		harness.Eventually(t, timeout.Wait, poll, func() (err error) {
			config.token, err = readToken(t.Context(), c, namespace, login.Credentials)
			return err
		})
	}
	folder := t.TempDir()
	for _, rule := range list(t, c, namespace, "PrometheusRule") {
		var rules Rules
		decodeSpec(t, rule, &rules)
		config.rules = append(config.rules, rules.Within(t, alertsWithin).Write(t, folder, rule.GetName()))
	}
	if len(config.rules) == 0 {
		t.Fatal("no alerts are installed")
	}
	return config
}

// Targets are the pods that the PodMonitor of a namespace selects, each by the address of the port that it names.
func Targets(t testing.TB, c client.Client, namespace string) (targets []Target) {
	t.Helper()
	monitor := readMonitor(t, c, namespace)
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Selector)
	if err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			for _, port := range container.Ports {
				if port.Name == monitor.Endpoints[0].Port {
					targets = append(targets, Target{Address: address(pod.Status.PodIP, port.ContainerPort), Namespace: namespace, Pod: pod.Name, Container: container.Name})
				}
			}
		}
	}
	if len(targets) == 0 {
		t.Fatalf("of %d pods, none has a port %q", len(pods.Items), monitor.Endpoints[0].Port)
	}
	return targets
}

func readMonitor(t testing.TB, c client.Client, namespace string) (monitor podMonitor) {
	t.Helper()
	monitors := list(t, c, namespace, "PodMonitor")
	if len(monitors) != 1 {
		t.Fatalf("%d PodMonitors are installed", len(monitors))
	}
	decodeSpec(t, monitors[0], &monitor)
	if len(monitor.Endpoints) != 1 {
		t.Fatalf("the PodMonitor has %d ports to scrape", len(monitor.Endpoints))
	}
	return monitor
}

// list are the objects of a kind of the Prometheus operator.
func list(t testing.TB, c client.Client, namespace, kind string) []unstructured.Unstructured {
	t.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(operator.WithKind(kind + "List"))
	if err := c.List(t.Context(), all, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(all.Items)
}

func decodeSpec(t testing.TB, object unstructured.Unstructured, into any) {
	t.Helper()
	text, err := yaml.Marshal(object.Object["spec"])
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatalf("%s %s has a setting that this test does not follow: %v", object.GetKind(), object.GetName(), err)
	}
}

// readToken reads what a PodMonitor names; the controller manager fills in the Secret of an account.
func readToken(ctx context.Context, c client.Client, namespace string, from corev1.SecretKeySelector) (string, error) {
	secret := &corev1.Secret{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: from.Name}, secret); err != nil {
		return "", err
	}
	token := secret.Data[from.Key]
	if len(token) == 0 {
		return "", fmt.Errorf("no %[2]s in Secret %[1]s", from.Name, from.Key)
	}
	return string(token), nil
}
