package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"
)

// status says what is running, by looking and not by what was once written down.
func status(ctx context.Context, o options) error {
	s, found, err := load(o)
	switch {
	case err != nil:
		return err
	case !found:
		fmt.Println("Nothing is up. Start a cluster with: make bed-up")
		return nil
	case !s.Supervisor.Alive():
		fmt.Println("A cluster was killed and left things behind. Tidy up with: make bed-down")
		return nil
	case !s.Ready:
		fmt.Printf("A cluster has been starting for %s.\n", time.Since(s.Since).Round(time.Second))
		return nil
	}
	fmt.Printf("Up for %s. KUBECONFIG=%s\n\n", time.Since(s.Since).Round(time.Second), s.Kubeconfig)
	names := slices.Sorted(maps.Keys(s.Servers))
	for _, name := range names {
		condition := "running"
		if !s.Servers[name].Alive() {
			condition = "ended"
		}
		fmt.Printf("  %-24s %7d  %s\n", name, s.Servers[name].PID, condition)
	}
	fmt.Println()
	kubectl := exec.CommandContext(ctx, s.Kubectl, "--kubeconfig="+s.Kubeconfig, "get", "nodes")
	kubectl.Stdout, kubectl.Stderr = os.Stdout, os.Stderr
	if err := kubectl.Run(); err != nil {
		return fmt.Errorf("ask for nodes: %w", err)
	}
	return nil
}
