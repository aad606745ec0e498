package main

import (
	"flag"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

type flags struct {
	address         string
	driverWithin    time.Duration
	metrics, probes string
	config          capture.RestorerConfig
	election        kube.Election
	log             zap.Options
	version         bool
}

func parse(args []string) (*flags, error) {
	f, set := &flags{}, flag.NewFlagSet("statecraft-restorer", flag.ContinueOnError)
	set.StringVar(&f.address, "csi-address", "/run/csi/socket", "socket of the CSI driver")
	set.DurationVar(&f.config.CallTimeout, "csi-timeout", time.Minute, "how long one call of the driver may take; it is made again after that")
	set.DurationVar(&f.driverWithin, "csi-startup-timeout", 2*time.Minute, "how long the driver may take to answer for the first time")
	kube.BindNamespace(set, &f.config.Namespace)
	set.StringVar(&f.config.FSType, "default-fstype", "", "file system of volumes whose StorageClass names none")
	set.BoolVar(&f.config.Metadata, "extra-create-metadata", false, "tell the driver the names of claim and volume, as external-provisioner does with the same flag")
	set.StringVar(&f.metrics, "metrics-bind-address", "0", "address of the metrics over TLS, for those who may get /metrics; 0 is off")
	set.StringVar(&f.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 is off")
	set.BoolVar(&f.election.Off, "no-leader-election", false, "do not elect a leader; for a single process only")
	set.DurationVar(&f.election.LeaseDuration, "lease-duration", 15*time.Second, "how long a leader that is not heard of stays leader")
	set.DurationVar(&f.election.RenewDeadline, "renew-deadline", 10*time.Second, "how long a leader tries to renew")
	set.DurationVar(&f.election.RetryPeriod, "retry-period", 2*time.Second, "how often election is tried and renewed")
	set.BoolVar(&f.version, "version", false, "say which version this is, and end")
	f.log.BindFlags(set)
	config.RegisterFlags(set) // --kubeconfig
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	return f, nil
}
