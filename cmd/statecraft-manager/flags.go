package main

import (
	"flag"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

type flags struct {
	areas, namespaces, shard string
	reservations, tracing    string
	metrics, probes          string
	setups                   []func() kube.AreaSetup
	election                 kube.Election
	qps                      float32
	burst                    int
	log                      zap.Options
}

func parse(args []string) (*flags, error) {
	f, set := &flags{}, flag.NewFlagSet("statecraft-manager", flag.ContinueOnError)
	set.StringVar(&f.areas, "areas", strings.Join(areaNames(), ","), "areas to run, comma-separated")
	set.StringVar(&f.namespaces, "namespaces", "", "namespaces to look at, comma-separated; all if empty")
	set.StringVar(&f.shard, "shard", "1/1", "part of the objects to work on, as index/count")
	set.StringVar(&f.reservations, "reservation-namespace", "statecraft-system", "namespace of the Leases that reserve targets; the same for all areas")
	set.StringVar(&f.metrics, "metrics-bind-address", ":8443", "address of the metrics over TLS, for those who may get /metrics; 0 is off")
	set.StringVar(&f.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 is off")
	set.StringVar(&f.tracing, "tracing-endpoint", "", "host:port of an OTLP collector (gRPC, no TLS) for spans; off if empty")
	f.setups = bind(set)
	set.BoolVar(&f.election.Off, "no-leader-election", false, "do not elect a leader; for a single process only")
	set.StringVar(&f.election.Namespace, "leader-election-namespace", "statecraft-system", "namespace of the election Leases, one per area")
	set.DurationVar(&f.election.LeaseDuration, "lease-duration", 15*time.Second, "how long a leader that is not heard of stays leader")
	set.DurationVar(&f.election.RenewDeadline, "renew-deadline", 10*time.Second, "how long a leader tries to renew; at least 5 s below lease-duration, or effects of two leaders overlap")
	set.DurationVar(&f.election.RetryPeriod, "retry-period", 2*time.Second, "how often election is tried and renewed")
	set.IntVar(&f.burst, "kube-api-burst", 0, "burst of requests to the API server; with kube-api-qps only")
	qps := set.Float64("kube-api-qps", -1, "requests per second to the API server; below 0 there is no limit here, and the server's own flow control decides")
	f.log.BindFlags(set)
	config.RegisterFlags(set) // --kubeconfig
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	f.qps = float32(*qps)
	return f, nil
}

func (f *flags) options() (kube.Options, error) {
	picked, err := pick(f.setups, list(f.areas))
	if err != nil {
		return kube.Options{}, err
	}
	shard, err := kube.ParseShard(f.shard)
	if err != nil {
		return kube.Options{}, err
	}
	return kube.Options{
		Areas: picked, Kinds: areas.Kinds(),
		Namespaces: list(f.namespaces), Shard: shard, ReservationNamespace: f.reservations,
		Election: f.election, MetricsAddress: f.metrics, ProbeAddress: f.probes,
	}, nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
