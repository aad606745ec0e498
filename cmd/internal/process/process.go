// Package process is what the programs that run controllers have in common: flags, log, spans and the run itself.
package process

import (
	"fmt"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/version"
)

// Main runs the areas of a program, and ends the process.
func Main(program string) {
	if err := run(program, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, program+":", err)
		os.Exit(1)
	}
}

func run(program string, args []string) error {
	f, err := parse(program, args)
	if err != nil {
		return err
	}
	if f.version {
		fmt.Println(program, version.String())
		return nil
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
	cfg.UserAgent = version.UserAgent(program)
	cfg.QPS, cfg.Burst = f.qps, f.burst
	log.Info("starting", "areas", f.areas, "shard", f.shard, "namespaces", f.namespaces)
	return kube.Run(ctx, cfg, options)
}
