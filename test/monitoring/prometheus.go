package monitoring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

// poll is how often a Prometheus is asked whether it is there.
const poll = 100 * time.Millisecond

// Target is a manager that Prometheus scrapes.
type Target struct {
	Address   string // host:port of its metrics
	Namespace string // of its pod
	Pod       string
	Container string
}

// Config is what a Prometheus scrapes and judges, from ReadConfig.
type Config struct {
	Targets []Target

	scrape endpoint
	token  string
	rules  []string // files
}

// every is how often a Prometheus scrapes and judges.
const every = "1s"

// Prometheus is a real one, on loopback.
type Prometheus struct {
	t   testing.TB
	url string
}

// Start starts a Prometheus that scrapes as one does that was told so by the chart's PodMonitor. It ends with the test.
func Start(t testing.TB, c Config) *Prometheus {
	t.Helper()
	return &Prometheus{t, Launch(t, c.print(t)).URL}
}

// print writes the configuration file, with the defaults of the Prometheus operator.
func (c Config) print(t testing.TB) []byte {
	t.Helper()
	var targets []any
	for _, to := range c.Targets {
		targets = append(targets, map[string]any{
			"targets": []string{to.Address},
			"labels":  map[string]string{"namespace": to.Namespace, "pod": to.Pod, "container": to.Container},
		})
	}
	scrape := map[string]any{
		"job_name": "statecraft", "honor_labels": c.scrape.HonorLabels, "scrape_timeout": every,
		"scheme": cmp.Or(c.scrape.Scheme, "http"), "metrics_path": cmp.Or(c.scrape.Path, "/metrics"),
		"tls_config":     map[string]any{"insecure_skip_verify": c.scrape.TLSConfig.InsecureSkipVerify},
		"static_configs": targets,
	}
	if login := c.scrape.Authorization; login != nil {
		scrape["authorization"] = map[string]any{"type": cmp.Or(login.Type, "Bearer"), "credentials": c.token}
	}
	text, err := yaml.Marshal(map[string]any{
		"global":         map[string]any{"scrape_interval": every, "evaluation_interval": every},
		"rule_files":     c.rules,
		"scrape_configs": []any{scrape},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *Prometheus) get(path string, values url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), timeout.Command)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path+"?"+values.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %.200s", path, answer.StatusCode, text)
	}
	return text, errors.Join(err, answer.Body.Close())
}

// Sample is one series of an answer, and its value.
type Sample struct {
	Labels map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // time, and the number as text
}

// Query asks for what an expression comes to now.
func (p *Prometheus) Query(expr string) ([]Sample, error) {
	text, err := p.get("/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []Sample `json:"result"`
		} `json:"data"`
	}
	err = decode(text, &answer)
	return answer.Data.Result, err
}

// Firing is an alert that fires.
type Firing struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"`
}

// Firing are the alerts of a name that fire now.
func (p *Prometheus) Firing(alert string) (list []Firing, err error) {
	text, err := p.get("/api/v1/alerts", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Alerts []Firing `json:"alerts"`
		} `json:"data"`
	}
	if err := decode(text, &answer); err != nil {
		return nil, err
	}
	for _, a := range answer.Data.Alerts {
		if a.Labels["alertname"] == alert && a.State == "firing" {
			list = append(list, a)
		}
	}
	return list, nil
}

func address(ip string, port int32) string { return net.JoinHostPort(ip, strconv.Itoa(int(port))) }

// FreeAddress is one of loopback that nobody listens on just now.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only the number was wanted
	return l.Addr().String()
}
