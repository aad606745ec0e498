package edge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleettest"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/flightctl"
	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/devices"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { bedtest.Main(m) }

const (
	disconnected = 20 * time.Second // more than the 15 s after which the server saves whom it has heard
	requests     = 100_000          // so many that no test comes to it
	nodeGrace    = 50 * time.Second // that of Kubernetes
)

// control is the Flight Control that the tests of this package share.
func control(t *testing.T) *bed.FlightControlServer {
	t.Helper()
	return bedtest.ControlPlane(t, bed.NodeGracePeriod(nodeGrace), bed.FlightControl(bed.FlightControlSettings{
		Disconnected: disconnected, Look: time.Second, Requests: requests,
	})).FlightControl()
}

// asks asks the server as the area does.
func asks(t *testing.T, f *bed.FlightControlServer) *flightctl.Client {
	t.Helper()
	token, err := f.Token(t.Context(), "edge")
	must(t, err)
	transport, err := f.Transport()
	must(t, err)
	t.Cleanup(transport.CloseIdleConnections)
	return flightctl.New(f.URL(), transport, func() (string, error) { return token, nil }, time.Now)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// port is the client, as scripts use it.
type port struct{ *flightctl.Client }

func (p port) Edit(ctx context.Context, name string, decide func(fleet.Device) (fleet.Edit, error)) error {
	return p.Client.Edit(ctx, name, decide)
}

// scripted is a device whose agent is that of the fake.
type scripted struct {
	*devices.Device
	client *flightctl.Client
	agent  fleetfake.Agent
}

// begin lets the agent apply the empty spec that a device has when it is new, once that is rendered.
func (s *scripted) begin(ctx context.Context) error {
	err := script.Poll(timeout.Wait)(ctx, func() bool {
		_, is, err := s.Fetch(ctx)
		return err == nil && is
	})
	return errors.Join(err, s.fetch(ctx), s.report(ctx))
}

// fetch gives the agent what was rendered.
func (s *scripted) fetch(ctx context.Context) error {
	rendered, is, err := s.Fetch(ctx)
	if err != nil || !is {
		return err
	}
	version, err := strconv.Atoi(rendered.Version)
	if err != nil {
		return fmt.Errorf("read version: %w", err)
	}
	entries := make([]fleet.Entry, 0, len(rendered.Applications))
	for _, raw := range rendered.Applications {
		entries = append(entries, fleet.EntryOf(raw))
	}
	s.agent.Take(version, fleetfake.Wanted(entries))
	return nil
}

// report reports what the agent says, if it is connected, until the server has it: after each rendering the worker writes back the
// status that it read before, over a report that came in between. Agents report again and again.
func (s *scripted) report(ctx context.Context) error {
	if !s.agent.Connected {
		return nil
	}
	said := s.agent.Report()
	updating := said.Updating()
	r := devices.Report{Version: strconv.Itoa(said.Version), Updating: updating.Status, Reason: updating.Reason, Message: updating.Message}
	for _, a := range said.Applications {
		r.Applications = append(r.Applications, devices.Application{Name: a.Name, Status: a.Status, Ready: fmt.Sprintf("%d/%d", a.Ready, a.Of), Restarts: a.Restarts})
	}
	var err error
	return errors.Join(script.Poll(timeout.Wait)(ctx, func() bool {
		if err = s.Report(ctx, r); err != nil {
			return true
		}
		now, unread := s.client.Get(ctx, s.Name)
		return unread == nil && now.Status.ReportedVersion == r.Version && now.Status.Updating == updating && slices.Equal(now.Status.Applications, said.Applications)
	}), err)
}

// settled is for how many looks the rendered version stays the same until nothing else is expected to be rendered: an edit and what a
// fleet does of it may be rendered in one version or in two.
const settled = 10

// until lets the server work until done says so and the rendered version stays.
func (s *scripted) until(ctx context.Context, done func() bool) error {
	last, stays := "", 0
	return script.Poll(timeout.Wait)(ctx, func() bool {
		now, err := s.client.Get(ctx, s.Name)
		if err != nil || !done() || now.RenderedVersion != last {
			last, stays = now.RenderedVersion, 0
			return false
		}
		stays++
		return stays >= settled
	})
}

// stages makes a device for each script.
func stages(t *testing.T) func(t *testing.T) fleettest.Stage {
	t.Helper()
	server := control(t)
	enroller, err := devices.NewEnroller(t.Context(), server)
	must(t, err)
	count := 0
	return func(t *testing.T) fleettest.Stage {
		t.Helper()
		count++
		label := map[string]string{"captured-by": "pumps-" + strconv.Itoa(count)}
		must(t, enroller.Fleet(t.Context(), label["captured-by"], label))
		device, err := enroller.Enroll(t.Context(), map[string]string{"site": "north"})
		must(t, err)
		s := &scripted{device, asks(t, server), fleetfake.NewAgent()}
		t.Cleanup(func() { _ = server.Start(bed.FlightControlWorker) }) // a script that failed may have left it stopped
		must(t, s.begin(t.Context()))
		return fleettest.Stage{
			Port: port{s.client}, Device: s.Name, Agent: &s.agent, Fetch: s.fetch, Report: s.report,
			Until:   s.until,
			Worker:  worker(server),
			Touch:   s.touch,
			Capture: func(ctx context.Context) error { return s.captured(ctx, label) },
			Free:    func(ctx context.Context) error { return s.captured(ctx, nil) },
			Delete:  s.Delete,
		}
	}
}

func worker(server *bed.FlightControlServer) func(context.Context, bool) error {
	return func(ctx context.Context, runs bool) error {
		if runs {
			return server.Start(bed.FlightControlWorker)
		}
		return server.Stop(ctx, bed.FlightControlWorker)
	}
}

// captured lets a fleet capture the device by a label, or frees it, and waits until it has happened: another process does it.
func (s *scripted) captured(ctx context.Context, label map[string]string) error {
	if err := s.Label(ctx, label); err != nil {
		return err
	}
	return s.until(ctx, func() bool {
		now, err := s.client.Get(ctx, s.Name)
		return err == nil && (now.Owner != "") == (label != nil) && (label == nil || len(now.Applications) == 0)
	})
}

// touch changes a field of the spec that is none of ours.
func (s *scripted) touch(ctx context.Context) error {
	return s.Edit(ctx, func(_, spec map[string]any) {
		spec["systemd"] = map[string]any{"matchPatterns": []string{"crio.service"}}
	})
}
