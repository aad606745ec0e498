// Command statecraft-manager runs the controllers of the areas it is given.
package main

import (
	"fmt"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/statecraft-dev/statecraft/internal/kube"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "statecraft-manager:", err)
		os.Exit(1)
	}
}

func run() error {
	f, err := parse(os.Args[1:])
	if err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	log := zap.New(zap.UseFlagOptions(&f.log))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	ctx := ctrl.SetupSignalHandler()
	stopTracing, err := startTracing(ctx, f.tracing)
	if err != nil {
		return err
	}
	defer stopTracing()
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	cfg.UserAgent = "statecraft-manager"
	cfg.QPS, cfg.Burst = f.qps, f.burst
	log.Info("starting", "areas", f.areas, "shard", f.shard, "namespaces", f.namespaces)
	return kube.Run(ctx, cfg, options)
}
