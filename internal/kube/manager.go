package kube

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// AreaSetup is how an area joins the manager.
type AreaSetup struct {
	Name        string
	AddToScheme func(*runtime.Scheme) error
	Setup       func(*Area) error
	// Kinds are those that have a machine in this area.
	Kinds []Kind
	// Reserves are the kinds of targets that the area reserves, and whose Leases it sweeps; AnyKind is all of them. Besides
	// the rights of an election it must list, watch and delete Leases of its own namespace, and read the targets.
	Reserves []schema.GroupKind
	// Caches are the kinds that the area reads through its cache, watches or indexes. Any other is
	// refused; it is read live. The Leases of reservations come with Reserves.
	Caches []Cached
	// Handlers answer further paths of the metrics server, each to those who may get that path; /metrics is taken.
	Handlers map[string]http.Handler
}

// Options of the manager process.
type Options struct {
	Areas          []AreaSetup
	Kinds          []Kind   // of all areas: a reservation may be held by any
	Namespace      string   // of the product itself: elections, reservations and keys are there
	Namespaces     []string // to look at; empty: all
	Shard          Shard
	Election       Election
	MetricsAddress string // "0" is off
	ProbeAddress   string // "0" is off
	// MetricsObjects is how many objects of a kind may have series of their own; a kind with more has none.
	// 0 is off.
	MetricsObjects int
}

// Election says how the leader of each area is found.
type Election struct {
	Off           bool
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

// Run runs areas until ctx ends. Every area elects its own leader, so that two
// replicas share the work and an area can be moved alone. An area that loses its
// election ends the process: only then is nothing of it running any more.
func Run(ctx context.Context, cfg *rest.Config, o Options) error {
	handlers, err := handlersOf(o.Areas)
	if err != nil {
		return err
	}
	front, err := ctrl.NewManager(cfg, ctrl.Options{
		Metrics: metricsserver.Options{
			BindAddress: o.MetricsAddress, SecureServing: true,
			FilterProvider: filters.WithAuthenticationAndAuthorization, ExtraHandlers: handlers,
		},
		HealthProbeBindAddress: o.ProbeAddress,
	})
	if err != nil {
		return fmt.Errorf("make manager: %w", err)
	}
	managers := []ctrl.Manager{front}
	for _, setup := range o.Areas {
		mgr, err := newArea(cfg, o, setup)
		if err != nil {
			return fmt.Errorf("set up area %s: %w", setup.Name, err)
		}
		managers = append(managers, mgr)
	}
	if err := front.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health check: %w", err)
	}
	if err := front.AddReadyzCheck("caches", synced(managers[1:])); err != nil {
		return fmt.Errorf("add readiness check: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, mgr := range managers {
		g.Go(func() error { return mgr.Start(ctx) })
	}
	return g.Wait()
}

func newArea(cfg *rest.Config, o Options, setup AreaSetup) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, setup.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	declared := slices.Clone(setup.Caches)
	if len(setup.Reserves) > 0 {
		declared = append(declared, ReservationLeases(o.Namespace))
	}
	caches, err := NewCaches(setup.Name, scheme, declared...)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme,
		Logger:                        ctrl.Log.WithValues("area", setup.Name),
		Cache:                         caches.options(o.Namespaces),
		NewCache:                      caches.newCache,
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // the front serves the metrics of all
		LeaderElection:                !o.Election.Off,
		LeaderElectionID:              o.Shard.Lease(setup.Name),
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionReleaseOnCancel: true, // the process ends with its managers
		LeaseDuration:                 &o.Election.LeaseDuration,
		RenewDeadline:                 &o.Election.RenewDeadline,
		RetryPeriod:                   &o.Election.RetryPeriod,
	})
	if err != nil {
		return nil, fmt.Errorf("make manager: %w", err)
	}
	area := &Area{Name: setup.Name, mgr: mgr, caches: caches, reserves: setup.Reserves, metricsObjects: o.MetricsObjects, Env: Env{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Now: time.Now,
		Events:     mgr.GetEventRecorder("statecraft-" + setup.Name),
		Namespace:  o.Namespace,
		Namespaces: o.Namespaces,
		Shard:      o.Shard, Kinds: o.Kinds,
	}}
	if err := area.showLeading(); err != nil {
		return nil, err
	}
	if len(setup.Reserves) > 0 {
		if err := area.sweepReservations(); err != nil {
			return nil, err
		}
	}
	return mgr, setup.Setup(area)
}

// synced is ready when all caches are: a replica that waits to be elected is ready, too.
func synced(managers []ctrl.Manager) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		for _, mgr := range managers {
			if !mgr.GetCache().WaitForCacheSync(ctx) {
				return fmt.Errorf("caches are not in sync")
			}
		}
		return nil
	}
}
