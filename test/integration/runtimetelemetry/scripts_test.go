package runtimetelemetry

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry/fake"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry/telemetrytest"
	"github.com/statecraft-dev/statecraft/test/monitoring"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const pollEvery = 100 * time.Millisecond

// TestScripts runs on a real Prometheus what package telemetrytest runs on the fake.
func TestScripts(t *testing.T) {
	telemetrytest.Run(t, "../../../internal/classruntime/telemetry/telemetrytest/testdata", stage)
}

// prometheus is one behind a server that may answer instead of it.
type prometheus struct {
	*monitoring.Process
	state fake.State
	fails atomic.Bool
}

func stage(t *testing.T) telemetrytest.Stage {
	t.Helper()
	t.Parallel() // scripts wait more than they work
	p := startPods(t)
	r := &prometheus{Process: monitoring.Launch(t, configuration(t, p.file)), state: fake.Answers}
	client, err := telemetry.NewClient(telemetry.Config{URL: r.front(t), Window: telemetrytest.Window, Interval: telemetrytest.Interval}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return telemetrytest.Stage{
		Source: client, Serve: p.serve, Restart: p.restart, Remove: p.remove, Set: r.set, Forget: r.forget,
		Now: time.Now, Until: until, Elapse: elapse,
	}
}

// configuration scrapes the pods of a file as a cluster's Prometheus does: with the labels of the target, not those that it claims.
func configuration(t *testing.T, file string) []byte {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{
		"global": map[string]any{"scrape_interval": telemetrytest.Interval.String(), "scrape_timeout": "500ms"},
		"scrape_configs": []any{map[string]any{
			"job_name": "functions", "file_sd_configs": []any{map[string]any{"files": []string{file}, "refresh_interval": "1s"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// front is the address of what stands before the Prometheus.
func (r *prometheus) front(t *testing.T) string {
	t.Helper()
	behind, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as if it was not there
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.fails.Load() {
			http.Error(w, "the database is closed", http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

var errState = errors.New("there is no such state")

// set does to the process what makes it so.
func (r *prometheus) set(state fake.State) error {
	was := r.state
	r.state = state
	r.fails.Store(state == fake.Fails)
	switch {
	case state == fake.Frozen:
		return r.Freeze()
	case was == fake.Frozen:
		return r.Thaw()
	case state == fake.Down:
		r.Kill()
	case was == fake.Down:
		r.Start()
	case state != fake.Answers && state != fake.Fails:
		return errState
	}
	return nil
}

func (r *prometheus) forget() error {
	r.Kill()
	err := r.Wipe()
	r.Start()
	return err
}

// until looks again and again.
func until(ctx context.Context, done func() bool) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for began := time.Now(); !done() && time.Since(began) < timeout.Wait; {
		if err := pause(ctx, ticker.C); err != nil {
			return err
		}
	}
	return nil
}

func elapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	return pause(ctx, timer.C)
}

func pause(ctx context.Context, over <-chan time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
		return nil
	}
}
