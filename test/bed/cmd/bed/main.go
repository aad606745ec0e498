// Command bed runs the test bed by hand: a cluster that stays up until it is taken down.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `usage: bed <command> [flags]

  up [-nodes 1]   start a cluster and leave it running; -nodes 0 is a control plane alone,
                  -csi adds a CSI driver with snapshots
  down            stop it and remove all it made
  status          say what is running
  load <file>     load an archive of images into its nodes
  program <name>  print where a program is that the bed has built, such as helm
  parts [-level full]
                  build everything the bed runs into the cache; -level core leaves out what
                  only tests of LEVEL=full need

Flags: -dir <directory> where the cluster's files are kept`

var errUsage = errors.New("unknown command or flag")

// options are the flags of all commands.
type options struct {
	dir   string
	nodes int
	csi   bool
	level string
	args  []string
}

var commands = map[string]func(context.Context, options) error{
	"up": up, "down": down, "status": status, "parts": buildParts, "load": loadImages, "program": printProgram, superviseCommand: supervise,
}

// takes is how many words a command takes besides flags.
var takes = map[string]int{"load": 1, "program": 1}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bed:", err)
		os.Exit(1)
	}
}

// defaultDir is where hack/kubectl and hack/run look for the cluster.
func defaultDir() string { return filepath.Join(os.TempDir(), "statecraft-cluster") }

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	command, ok := commands[args[0]]
	if !ok {
		return errUsage
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", defaultDir(), "")
	flags.IntVar(&o.nodes, "nodes", 1, "")
	flags.BoolVar(&o.csi, "csi", false, "")
	flags.StringVar(&o.level, "level", "full", "")
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() != takes[args[0]] {
		return errUsage
	}
	o.args = flags.Args()
	return command(ctx, o)
}
