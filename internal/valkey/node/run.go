package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/node/config"
	"github.com/statecraft-dev/statecraft/internal/valkey/node/guard"
)

// usersFile lies with the data: nowhere else can the server's user write.
const usersFile = "users.acl"

// Run starts a server.
type Run struct {
	Program  string // the server; found in PATH if it is a name
	Config   string // file with the configuration of all servers of this kind
	Live     string // file with what is changed while servers run, "" if there is none
	Rendered string // file for the configuration of this one; "" is in the data directory
	IP       string // what others shall call it
	Mark     string // of the pod that it runs in; "" is none
	// Peers are host:port where servers of the cluster may be found, as by the name of
	// a headless Service.
	Peers []string
	// Held is a file that exists if the server had keys when it was last looked at; "" is not to look.
	Held string
	// Patience is how long to wait for others before giving up; 0 is long enough for an
	// automatic failover.
	Patience time.Duration
	Access   Access
	Say      func(words string)
}

func (r *Run) say(format string, args ...any) { r.Say(fmt.Sprintf(format, args...)) }

// Exec makes this process the server, once it may start. It returns only errors.
func (r *Run) Exec(ctx context.Context) error {
	program, rendered, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Exec(program, []string{filepath.Base(program), rendered}, os.Environ()); err != nil {
		return fmt.Errorf("become %s: %w", program, err)
	}
	return nil
}

// prepare does all that comes before the server: it may take as long as Patience.
func (r *Run) prepare(ctx context.Context) (program, rendered string, err error) {
	program, err = exec.LookPath(r.Program)
	if err != nil {
		return "", "", fmt.Errorf("find server: %w", err)
	}
	version, err := versionOf(ctx, program)
	if err != nil {
		return "", "", err
	}
	settings, rendered, err := r.configure(version)
	if err != nil {
		return "", "", err
	}
	var here guard.Here
	if r.IP != "" {
		here.Addr = net.JoinHostPort(r.IP, settings.Port)
	}
	known, err := r.memory(settings.NodesConf, version, here.Addr)
	if err != nil {
		return "", "", err
	}
	here.Known = known
	if here.Data, err = data(settings); err != nil {
		return "", "", err
	}
	here.Held = exists(r.Held)
	return program, rendered, r.await(ctx, here, settings.NodesConf, settings.Timeout)
}

func versionOf(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", program, err)
	}
	return config.Version(string(out))
}

// configure writes the configuration for this server, which only it can read: there
// may be a password in it.
func (r *Run) configure(version string) (config.Settings, string, error) {
	shared, err := r.shared()
	if err != nil {
		return config.Settings{}, "", err
	}
	settings, err := config.Parse(shared)
	if err != nil {
		return settings, "", err
	}
	server := config.Server{Version: version, IP: r.IP, Mark: r.Mark, TLS: r.Access.TLSDir}
	if err := r.users(&server, settings.Dir); err != nil {
		return settings, "", err
	}
	text, err := config.Render(shared, server)
	if err != nil {
		return settings, "", err
	}
	rendered := r.Rendered
	if rendered == "" {
		rendered = filepath.Join(settings.Dir, "statecraft.conf")
	}
	return settings, rendered, replace(rendered, text, 0o600)
}

// shared is the configuration that is not of this server alone.
func (r *Run) shared() (text string, err error) {
	for _, file := range []string{r.Config, r.Live} {
		if file == "" {
			continue
		}
		part, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read configuration: %w", err)
		}
		text += string(part) + "\n"
	}
	return text, nil
}

// users writes the file of users, and says where it is and who the server is to its
// primary. It is made anew at every start: what was changed while the server ran is in
// the files of passwords by now.
func (r *Run) users(s *config.Server, dir string) error {
	if r.Access.UsersDir == "" {
		return nil
	}
	files, err := userFiles(r.Access.UsersDir)
	if err != nil {
		return err
	}
	own, err := access.ParseOwn(files)
	if err != nil {
		return err
	}
	all, err := access.ParseSecrets(files)
	if err != nil {
		// A server that does not start has no copy of anything.
		r.say("%v: the server starts without a user for the application", err)
		all = own
	}
	s.Users = filepath.Join(dir, usersFile)
	s.Primary = config.Login{User: access.Replication, Password: all.Replication[0]}
	return replace(s.Users, access.File(all.Users(s.Version), own.Newest()), 0o600)
}
