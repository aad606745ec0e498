package bed

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/servers"
)

// How Flight Control reaches its stores, which listen on loopback alone and end with the bed.
const (
	databaseUser     = "admin"
	databasePassword = "bed"
	valkeyPassword   = "bed"
	valkeyVersion    = "8.1"
)

// startStores starts the database and the queue.
func (f *FlightControlServer) startStores(ctx context.Context) error {
	if err := f.startDatabase(ctx); err != nil {
		return err
	}
	valkey, err := servers.Program(ctx, valkeyVersion)
	if err != nil {
		return err
	}
	if err := f.keep(process.Command{Name: "flightctl-valkey", Path: valkey, Dir: f.bed.dir, Args: []string{
		"--bind", loopback, "--port", strconv.Itoa(f.valkeyPort), "--requirepass", valkeyPassword, "--save", "", "--appendonly", "no",
	}}); err != nil {
		return err
	}
	if err := f.listens(ctx, "the database of Flight Control", f.databasePort); err != nil {
		return err
	}
	return f.listens(ctx, "the queue of Flight Control", f.valkeyPort)
}

// startDatabase starts a PostgreSQL as a user that is not root. A bed's directory is closed to others, so its data lies beside.
func (f *FlightControlServer) startDatabase(ctx context.Context) error {
	programs, err := parts.Postgres(ctx)
	if err != nil {
		return err
	}
	as, err := parts.Unprivileged()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "statecraft-bed-database-")
	if err != nil {
		return fmt.Errorf("make directory of the database: %w", err)
	}
	f.bed.onStop(func(context.Context) error { return os.RemoveAll(dir) })
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			return fmt.Errorf("give away directory of the database: %w", err)
		}
	}
	data := filepath.Join(dir, "data")
	if err := parts.InitPostgres(ctx, programs, data, databaseUser, as); err != nil {
		return err
	}
	return f.keep(process.Command{
		Name: "flightctl-postgres", Path: filepath.Join(programs, "postgres"), User: as, Dir: "/",
		Args: append(parts.PostgresArgs(data, f.databasePort, 200), "-c", "fsync=off"),
	})
}

// listens returns once somebody listens on a port of loopback.
func (f *FlightControlServer) listens(ctx context.Context, what string, port int) error {
	dialer := net.Dialer{Timeout: time.Second}
	return f.bed.await(ctx, what, func(ctx context.Context) (bool, error) {
		c, err := dialer.DialContext(ctx, "tcp", f.address(port))
		if err != nil {
			return false, err
		}
		return true, c.Close()
	})
}
