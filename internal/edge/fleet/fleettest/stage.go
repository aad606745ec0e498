package fleettest

import (
	"context"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
)

// Port is what the area asks a server.
type Port interface {
	Get(ctx context.Context, name string) (fleet.Device, error)
	Rendered(ctx context.Context, name string) (fleet.Rendered, error)
	Edit(ctx context.Context, name string, decide func(fleet.Device) (fleet.Edit, error)) error
}

// Stage is a server with one device to run one script on.
type Stage struct {
	Port
	// Device is the name of the device, and Agent what runs on it.
	Device string
	Agent  *fleetfake.Agent
	// Fetch gives the agent the last version that was rendered for it; Report is what it says then.
	Fetch  func(context.Context) error
	Report func(context.Context) error
	// Until lets the server work until done says so, or nothing more happens.
	Until func(ctx context.Context, done func() bool) error
	// Worker stops and starts what renders specs.
	Worker func(ctx context.Context, runs bool) error

	// What others do to the device: a person changes another field of its spec, a fleet captures it or frees it, with nothing in
	// its template, and somebody deletes it.
	Touch, Capture, Free, Delete func(context.Context) error
}
