package edge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
	"github.com/statecraft-dev/statecraft/test/bed/devices"
)

// agent is a scripted device whose agent works by itself, as a real one does: it fetches, applies and reports, again and again.
type agent struct {
	*devices.Device
	mu      sync.Mutex
	is      fleetfake.Agent
	applies bool // else it reports, and applies nothing
	starts  bool // containers that it has are running; else they are about to
}

const reportEvery = 500 * time.Millisecond

func startAgent(t *testing.T, d *devices.Device) *agent {
	t.Helper()
	a := &agent{Device: d, is: fleetfake.NewAgent(), applies: true, starts: true}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := a.work(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("agent: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(reportEvery):
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
	return a
}

// told changes what the agent does.
func (a *agent) told(change func(*agent)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// runs are the applications that truly run.
func (a *agent) runs() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.is.Running)
}

func (a *agent) work(ctx context.Context) error {
	rendered, is, err := a.Fetch(ctx)
	if err != nil {
		return err
	}
	r, err := a.next(rendered, is)
	return errors.Join(err, a.Report(ctx, r))
}

func (a *agent) next(rendered devices.Rendered, is bool) (r devices.Report, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if is && a.applies {
		version, err := strconv.Atoi(rendered.Version)
		if err != nil {
			return r, fmt.Errorf("read version: %w", err)
		}
		entries := make([]fleet.Entry, 0, len(rendered.Applications))
		for _, raw := range rendered.Applications {
			entries = append(entries, fleet.EntryOf(raw))
		}
		a.is.Take(version, fleetfake.Wanted(entries))
	}
	said := a.is.Report()
	updating := said.Updating()
	r = devices.Report{
		Version: strconv.Itoa(said.Version), Updating: updating.Status, Reason: updating.Reason, Message: updating.Message,
		System: map[string]string{"cpuCores": "4", "memoryTotalKb": "8000000"},
	}
	for _, app := range said.Applications {
		status, ready := app.Status, app.Ready
		if !a.starts {
			status, ready = fleet.AppStarting, 0
		}
		r.Applications = append(r.Applications, devices.Application{Name: app.Name, Status: status, Ready: fmt.Sprintf("%d/%d", ready, app.Of), Restarts: app.Restarts})
	}
	return r, nil
}
