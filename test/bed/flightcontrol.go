package bed

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// The servers of Flight Control, by the names Stop and Start know.
const (
	FlightControlAPI      = "flightctl-api"      // answers people, programs and agents
	FlightControlWorker   = "flightctl-worker"   // renders specs: without it nothing reaches a device
	FlightControlPeriodic = "flightctl-periodic" // says which devices are disconnected
)

// FlightControlSettings are what a test wants of a Flight Control server. The zero value is how it is delivered.
type FlightControlSettings struct {
	// Disconnected is how long a device is not heard until it is said to be disconnected, and Look how often that is
	// looked for; 0 is Flight Control's own five and two minutes. It saves whom it has heard every 15 s, so with less than
	// that all devices are disconnected most of the time.
	Disconnected, Look time.Duration
	// Requests is how many it takes of one address in a minute; 0 is no limit.
	Requests int
}

// FlightControl is a Flight Control server, with a PostgreSQL and a Valkey of its own. Whoever asks it shows a token of the bed's
// API server. It has no devices: package devices makes them.
func FlightControl(settings FlightControlSettings) Part {
	return Part{
		name:  "Flight Control",
		built: []string{parts.FlightControl},
		start: func(ctx context.Context, b *Bed) error { return startFlightControl(ctx, b, settings) },
	}
}

// FlightControlServer is the Flight Control of a bed that was started with one.
type FlightControlServer struct {
	bed      *Bed
	settings FlightControlSettings
	servers  *process.Set

	apiPort, agentPort, databasePort, valkeyPort int
}

// FlightControl is that of the bed; nil if it was started without.
func (b *Bed) FlightControl() *FlightControlServer { return b.flightControl }

// URL is where people and programs ask.
func (f *FlightControlServer) URL() string { return "https://" + f.address(f.apiPort) }

// AgentURL is where agents ask.
func (f *FlightControlServer) AgentURL() string { return "https://" + f.address(f.agentPort) }

func (f *FlightControlServer) address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}

// CA is the certificate, as PEM, by which the server is known.
func (f *FlightControlServer) CA() ([]byte, error) {
	ca, err := os.ReadFile(f.path(certificates, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate of Flight Control: %w", err)
	}
	return ca, nil
}

// Stop kills one of the servers and leaves it stopped.
func (f *FlightControlServer) Stop(ctx context.Context, server string) error {
	return f.servers.Stop(ctx, server)
}

// Start starts a server that was stopped. The API answers once Answers returns.
func (f *FlightControlServer) Start(server string) error { return f.servers.Start(server) }

// pids adds the processes of Flight Control that run now.
func (f *FlightControlServer) pids(ids map[string]int) {
	if f != nil {
		f.servers.PIDs(ids)
	}
}

func startFlightControl(ctx context.Context, b *Bed, settings FlightControlSettings) error {
	ports, err := freePorts(4)
	if err != nil {
		return err
	}
	f := &FlightControlServer{
		bed: b, settings: settings, servers: process.NewSet(b.path("log")),
		apiPort: ports[0], agentPort: ports[1], databasePort: ports[2], valkeyPort: ports[3],
	}
	b.flightControl = f
	for _, step := range []func(context.Context) error{
		f.startStores, f.makeAccount, f.writeCertificates, f.writeConfig, f.migrate, f.startServers, f.Answers,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// migrate makes the tables.
func (f *FlightControlServer) migrate(ctx context.Context) error {
	return parts.Run(ctx, f.environment(), f.bed.program(parts.FlightControl, "flightctl-db-migrate"))
}

func (f *FlightControlServer) startServers(context.Context) error {
	for _, name := range []string{FlightControlAPI, FlightControlWorker, FlightControlPeriodic} {
		if err := f.keep(process.Command{Name: name, Path: f.bed.program(parts.FlightControl, name), Env: f.environment()}); err != nil {
			return err
		}
	}
	return nil
}

// keep runs a server until the bed stops.
func (f *FlightControlServer) keep(command process.Command) error {
	server, err := f.servers.Add(command)
	if err != nil {
		return err
	}
	f.bed.onStop(server.Stop)
	return nil
}

// Answers returns once the API answers anybody at all.
func (f *FlightControlServer) Answers(ctx context.Context) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	err = f.bed.await(ctx, "Flight Control", func(ctx context.Context) (bool, error) { return f.answers(ctx, client) })
	if err != nil {
		return fmt.Errorf("%w\n%s", err, process.Tail(f.bed.Log(FlightControlAPI)))
	}
	return nil
}
