// Command statecraft-action does one built-in action of area remediation to one object, at most once.
// It runs in the Job of a KubernetesExecution with the rights of the action alone, and reports what
// it did as the termination message of its pod.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/perform"
	"github.com/statecraft-dev/statecraft/internal/version"
)

func main() {
	if args := os.Args[1:]; len(args) == 1 && (args[0] == "--version" || args[0] == "-version") {
		fmt.Println(perform.Program, version.String())
		return
	}
	// A pod that is deleted or evicted is told by a signal: a write in flight is finished and reported.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := perform.Run(ctx, os.Args[1:], connect, os.Stdout)
	stop()
	os.Exit(code)
}

// connect speaks as the account of the pod.
func connect(t action.Target) (perform.Object, error) {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	cfg.UserAgent = version.UserAgent(perform.Program)
	return perform.Connect(cfg, t, perform.Usual.Write)
}
