package process

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
	areas, namespace, namespaces, shard string
	metrics, probes, tracing            string
	setups                              []func() kube.AreaSetup
	election                            kube.Election
	qps                                 float32
	burst                               int
	metricsObjects                      int
	log                                 zap.Options
	version                             bool
	program                             string
}

func parse(program string, args []string) (*flags, error) {
	f, set := &flags{program: program, areas: strings.Join(areaNames(program), ",")}, flag.NewFlagSet(program, flag.ContinueOnError)
	if program == areas.ManagerProgram { // any other program has one area, which it runs
		set.StringVar(&f.areas, "areas", f.areas, "areas to run, comma-separated")
	}
	set.StringVar(&f.namespaces, "namespaces", "", "namespaces to look at, comma-separated; all if empty")
	set.StringVar(&f.shard, "shard", "1/1", "part of the objects to work on, as index/count")
	kube.BindNamespace(set, &f.namespace)
	set.StringVar(&f.metrics, "metrics-bind-address", ":8443", "address of the metrics over TLS, for those who may get /metrics; 0 is off")
	set.IntVar(&f.metricsObjects, "metrics-objects", 5000, "how many objects of a kind may have metrics of their own; a kind with more has none, and statecraft_object_series_off says so, which an alert tells; 0 is none")
	set.StringVar(&f.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 is off")
	set.StringVar(&f.tracing, "tracing-endpoint", "", "host:port of an OTLP collector (gRPC, no TLS) for spans; off if empty")
	f.setups = bind(program, set)
	set.BoolVar(&f.election.Off, "no-leader-election", false, "do not elect a leader; for a single process only")
	set.DurationVar(&f.election.LeaseDuration, "lease-duration", 15*time.Second, "how long a leader that is not heard of stays leader")
	set.DurationVar(&f.election.RenewDeadline, "renew-deadline", 10*time.Second, "how long a leader tries to renew; at least 5 s below lease-duration, or effects of two leaders overlap")
	set.DurationVar(&f.election.RetryPeriod, "retry-period", 2*time.Second, "how often election is tried and renewed")
	set.IntVar(&f.burst, "kube-api-burst", 0, "burst of requests to the API server; with kube-api-qps only")
	qps := set.Float64("kube-api-qps", -1, "requests per second to the API server; below 0 there is no limit here, and the server's own flow control decides")
	set.BoolVar(&f.version, "version", false, "say which version this is, and end")
	f.log.BindFlags(set)
	config.RegisterFlags(set) // --kubeconfig
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	f.qps = float32(*qps)
	return f, nil
}

func (f *flags) options() (kube.Options, error) {
	picked, err := pick(f.program, f.setups, list(f.areas))
	if err != nil {
		return kube.Options{}, err
	}
	shard, err := kube.ParseShard(f.shard)
	if err != nil {
		return kube.Options{}, err
	}
	return kube.Options{
		Areas: picked, Kinds: areas.Kinds(),
		Namespace: f.namespace, Namespaces: list(f.namespaces), Shard: shard,
		Election: f.election, MetricsAddress: f.metrics, ProbeAddress: f.probes, MetricsObjects: f.metricsObjects,
	}, nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
