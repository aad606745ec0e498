// Command statecraft-valkey-node runs inside every Valkey pod: it starts the server
// safely, answers the probe, and hands over before the server stops.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/statecraft-dev/statecraft/internal/valkey/node"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const usage = `usage: statecraft-valkey-node <command> [flags]

  install <dir>  copy this program into a directory
  run            start valkey-server, once that harms nobody
  ready          exit with 0 if the server is ready
  handover       make a replica the primary before the server stops

statecraft-valkey-node <command> -h lists the flags of a command.
`

// again is the exit code of a start that was refused and is to be tried again.
const again = 75

var errUsage = errors.New("no such command")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	say(err.Error())
	switch {
	case errors.Is(err, node.ErrDataMissing):
		tell(err)
		os.Exit(topology.ExitDataMissing)
	case errors.Is(err, node.ErrRefused):
		tell(err)
		os.Exit(again)
	}
	os.Exit(1)
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch rest := args[1:]; args[0] {
	case "install":
		if len(rest) != 1 {
			return errUsage
		}
		return node.Install(rest[0])
	case "run":
		return run(ctx, rest)
	case "ready":
		return ready(ctx, rest)
	case "handover":
		return handover(ctx, rest)
	}
	return errUsage
}

// say writes to the log of the container, between the lines of the server.
func say(words string) { fmt.Fprintln(os.Stderr, "statecraft-valkey-node:", words) }

// tell leaves the reason where Kubernetes shows it with the pod.
func tell(reason error) {
	_ = os.WriteFile("/dev/termination-log", []byte(reason.Error()), 0o600) // outside a pod there is none
}
