// Command kubectl-statecraft shows what Statecraft's objects are doing, and why. As a plugin of
// kubectl it is called `kubectl statecraft`.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/statecraft-dev/statecraft/internal/plugin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := plugin.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
