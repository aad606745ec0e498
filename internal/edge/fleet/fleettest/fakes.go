package fleettest

import (
	"context"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
)

const fakeName = "pump"

// Fake makes a stage of the fake.
func Fake(*testing.T) Stage {
	f := &fakes{Server: fleetfake.New(fakeName)}
	d := f.Devices[fakeName]
	return Stage{
		Port: f.Server, Device: fakeName, Agent: &d.Agent, Until: f.until, Worker: f.worker,
		Fetch:  func(context.Context) error { f.render(); d.Apply(); return nil },
		Report: func(context.Context) error { d.Report(); return nil },
		Touch:  func(context.Context) error { f.Touch(fakeName); return nil },
		Capture: func(context.Context) error {
			f.Replace(fakeName, "Fleet/pumps", `{}`)
			return nil
		},
		Free:   func(context.Context) error { d.Owner = ""; return nil },
		Delete: func(context.Context) error { delete(f.Devices, fakeName); return nil },
	}
}

// fakes is the fake with a worker that renders as fast as it can, unless it is down.
type fakes struct {
	*fleetfake.Server
	down bool
}

func (f *fakes) worker(_ context.Context, runs bool) error {
	f.down = !runs
	return nil
}

func (f *fakes) render() {
	for _, d := range f.Devices {
		for !f.down && d.Reading() > 0 {
			d.Render(0)
		}
	}
}

func (f *fakes) until(context.Context, func() bool) error {
	f.render()
	return nil
}
