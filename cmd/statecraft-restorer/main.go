// Command statecraft-restorer runs beside a CSI driver and makes volumes for
// VolumeRestoreRequests. It is the only part of the product that talks to a driver.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/version"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "statecraft-restorer:", err)
		os.Exit(1)
	}
}

func run() error {
	f, err := parse(os.Args[1:])
	if err != nil {
		return err
	}
	if f.version {
		fmt.Println("statecraft-restorer", version.String())
		return nil
	}
	log := zap.New(zap.UseFlagOptions(&f.log))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	ctx := ctrl.SetupSignalHandler()
	driver, err := dial(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = driver.Close() }() // the process ends with it
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	cfg.UserAgent = version.UserAgent("statecraft-restorer")
	cfg.QPS = -1 // the server's own flow control decides
	config := f.config
	config.Driver = driver.Name
	log.Info("starting", "driver", driver.Name, "namespace", config.Namespace)
	return kube.Run(ctx, cfg, kube.Options{
		Areas: []kube.AreaSetup{capture.RestorerArea(driver, config)}, Namespace: config.Namespace, Election: f.election,
		MetricsAddress: f.metrics, ProbeAddress: f.probes,
	})
}

// dial waits for the driver: both start at the same time.
func dial(ctx context.Context, f *flags) (*csi.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, f.driverWithin)
	defer cancel()
	return csi.Dial(ctx, f.address, f.config.CallTimeout)
}
