// Command bed-node is process 1 of a node of the test bed. The bed starts it; it is of no use by hand.
package main

import (
	"fmt"
	"os"

	"github.com/statecraft-dev/statecraft/test/bed/internal/nodeinit"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bed-node:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	verbs := map[string]func([]string) error{
		"enter": func(args []string) error { return nodeinit.Enter(os.Args[0], args[0]) },
		"run":   func(args []string) error { return nodeinit.Run(args[0]) },
		"bind":  nodeinit.Bound,
	}
	if len(args) > 1 {
		if verb, ok := verbs[args[0]]; ok {
			return verb(args[1:])
		}
	}
	return fmt.Errorf("unknown arguments %q", args)
}
