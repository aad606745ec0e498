package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/node"
)

func run(ctx context.Context, args []string) error {
	r := &node.Run{Say: say}
	set := flag.NewFlagSet("run", flag.ContinueOnError)
	set.StringVar(&r.Program, "server", "valkey-server", "the server's program")
	set.StringVar(&r.Config, "config", "/etc/valkey/valkey.conf", "configuration that servers of this kind share")
	set.StringVar(&r.Live, "live", "", "configuration that is changed while servers run, if there is any")
	set.StringVar(&r.Rendered, "rendered", "", "where to write the configuration of this server; default statecraft.conf in the data directory")
	set.StringVar(&r.IP, "announce-ip", os.Getenv("POD_IP"), "address that others shall use; default $POD_IP")
	set.StringVar(&r.Mark, "mark", "", "namespace/name/UID of the pod, by which the operator knows its server from others at its address")
	set.DurationVar(&r.Patience, "patience", 0, "how long to wait for others before giving up; default four times the node timeout and 10s")
	set.StringVar(&r.Held, "held", "", "file in which ready notes that the server has keys")
	peers := set.String("peers", "", "host:port, comma-separated, where other servers may be found; a name stands for all its addresses")
	access(set, &r.Access)
	if err := parse(set, args); err != nil {
		return err
	}
	r.Peers = strings.FieldsFunc(*peers, func(c rune) bool { return c == ',' || c == ' ' })
	for _, p := range r.Peers {
		if _, _, err := net.SplitHostPort(p); err != nil {
			return fmt.Errorf("parse peers: %w", err)
		}
	}
	return r.Exec(ctx)
}

func ready(ctx context.Context, args []string) error {
	var p node.Probe
	set := flag.NewFlagSet("ready", flag.ContinueOnError)
	set.StringVar(&p.Addr, "addr", "127.0.0.1:6379", "where the server answers")
	set.StringVar(&p.Noted, "noted", "", "file in which to note since when the server is a primary, for handover")
	set.StringVar(&p.Held, "held", "", "file that is there while the server has keys, for run")
	set.StringVar(&p.Formed, "formed", "", "file that exists once the cluster was formed; from then on a server without a copy of its shard is not ready")
	access(set, &p.Access)
	if err := parse(set, args); err != nil {
		return err
	}
	words, err := p.Ready(ctx)
	if err != nil {
		return err
	}
	fmt.Println(words)
	return nil
}

func handover(ctx context.Context, args []string) error {
	h := &node.Handover{Say: say}
	set := flag.NewFlagSet("handover", flag.ContinueOnError)
	set.StringVar(&h.Addr, "addr", "127.0.0.1:6379", "where the server answers")
	set.StringVar(&h.Noted, "noted", "", "file in which ready notes since when the server is a primary")
	set.DurationVar(&h.Within, "within", 20*time.Second, "how long it may take to hand over to a replica that has a copy")
	set.DurationVar(&h.CopyWithin, "copy-within", 0, "how long to wait for a copy of data that is in memory only; with -within less than the pod's grace period")
	set.StringVar(&h.Replicas, "replicas", "", "file with the number of replicas that each primary should have; with 0 no copy is waited for")
	set.DurationVar(&h.Linger, "linger", 2*time.Second, "how long to go on telling clients where their keys are")
	access(set, &h.Access)
	if err := parse(set, args); err != nil {
		return err
	}
	return h.Do(ctx)
}

// access adds the flags by which this program logs on. There is none for a password:
// arguments can be read by others.
func access(set *flag.FlagSet, a *node.Access) {
	set.StringVar(&a.UsersDir, "users-dir", "", "directory of the users' passwords, one in each line and the newest first: operator-password, replication-password, application-username, application-password; without it nobody logs on")
	set.StringVar(&a.TLSDir, "tls-dir", "", "directory of tls.crt, tls.key and ca.crt; without it nothing is encrypted")
	set.StringVar(&a.ServerName, "tls-server-name", "", "name that the certificates of all servers are for")
}

var errArguments = errors.New("unexpected argument")

func parse(set *flag.FlagSet, args []string) error {
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("%w %q", errArguments, set.Arg(0))
	}
	return nil
}
