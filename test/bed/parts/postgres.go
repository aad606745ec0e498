package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// errNoPostgres says that Debian's package is not where it used to be.
var errNoPostgres = errors.New("no /usr/lib/postgresql/*/bin/postgres")

// Postgres returns the directory with the programs of PostgreSQL, in the version that Debian has; it installs the package if
// there is none.
func Postgres(ctx context.Context) (string, error) {
	if dir, is := installedPostgres(); is {
		return dir, nil
	}
	fmt.Fprintln(Progress, "bed: installing postgresql")
	if err := updateIndexOnce(ctx); err != nil {
		return "", err
	}
	if err := apt(ctx, "", "install", "--yes", "--no-install-recommends", "postgresql"); err != nil {
		return "", err
	}
	dir, is := installedPostgres()
	if !is {
		return "", fmt.Errorf("install postgresql: %w", errNoPostgres)
	}
	return dir, nil
}

func installedPostgres() (string, bool) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", false
	}
	newest := slices.Max(found) // two digits since version 10
	if _, err := os.Stat(newest); err != nil {
		return "", false
	}
	return filepath.Dir(newest), true
}

// Unprivileged is the user that a server runs as which refuses to be root, as PostgreSQL does; nil if the tests are not root's. Its
// data must lie where that user may go.
func Unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("find a user for servers: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(nobody.Gid, 10, 32)
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("find a user for servers: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// InitPostgres makes an empty database in a directory that the user of the server may write to.
func InitPostgres(ctx context.Context, programs, data, administrator string, as *syscall.Credential) error {
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "initdb"),
		"--pgdata="+data, "--username="+administrator, "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8")
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make a database: %w\n%s", err, out)
	}
	return nil
}

// PostgresArgs are the arguments of a server on loopback alone.
func PostgresArgs(data string, port, connections int) []string {
	return []string{
		"-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "max_connections=" + strconv.Itoa(connections),
	}
}
