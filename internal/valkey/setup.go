// Package valkey wires the controllers of area valkey.
package valkey

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// What the area may do. Its right to Secrets is a role of its own, config/rbac/valkey/secrets.yaml, which may be bound in
// chosen namespaces only.
//
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters/status,verbs=patch
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyupgrades,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyupgrades/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests,verbs=get;create
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=kubernetesexecutions,verbs=get
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=statecraft-system,resources=leases,verbs=get;list;watch;create;update;delete

// Options is what the flags of the manager say about the area.
type Options struct {
	Build spec.Builder
	// Restarts is how many clusters are restarted at a time for reasons of the operator's own.
	Restarts int
	// AwaitKubelet says that a refused connection proves nothing: only a kubelet's word ends a server.
	AwaitKubelet bool
}

// Area is area valkey.
func Area(o Options) kube.AreaSetup {
	return NewArea(func(e kube.Env) Connector { return newClients(e.Cached(), e.LiveReader()) }, o)
}

// NewArea is area valkey with a Connector that may lead to a fake.
func NewArea(connector func(kube.Env) Connector, o Options) kube.AreaSetup {
	setup := func(a *kube.Area) error { return setup(a, connector(a.Env), o) }
	return kube.AreaSetup{
		Name: "valkey", AddToScheme: AddToScheme, Setup: setup, Kinds: Kinds(),
		Reserves: []schema.GroupKind{clusterKind}, Caches: Caches(),
	}
}

// Kinds are those that have a machine in the area.
func Kinds() []kube.Kind {
	return []kube.Kind{kube.KindOf(valkeyv1.GroupVersion.Group, &cluster.Machine), kube.KindOf(valkeyv1.GroupVersion.Group, &upgrade.Machine)}
}

// AddToScheme registers the kinds of the area, and those by which it captures volumes.
func AddToScheme(s *runtime.Scheme) error {
	if err := capturev1.AddToScheme(s); err != nil {
		return err
	}
	return valkeyv1.AddToScheme(s)
}

// asked is how many clusters are looked at at a time.
const asked = 16

// Servers is the port to Valkey, real or fake.
type Servers interface {
	wire.Reader
	wire.Writer
	wire.Mover
	wire.Watcher
}

// Sampler looks at the servers of clusters.
type Sampler = kube.Sampler[observe.Answers]

// NewSampler builds the sampler that the controller of clusters reads.
func NewSampler(e kube.Env, connector Connector, wake func(read.Key)) *Sampler {
	readers := func(ctx context.Context, key read.Key) (wire.Reader, error) { return connector.Connect(ctx, key) }
	return &Sampler{
		Take: observe.Servers{Cached: e.Cached(), Connect: readers}.Take,
		Same: observe.Same, Wake: wake, Now: e.Now, Budget: asked,
	}
}

// watchPrimaries has a sampler look at clusters that lost a primary at once, and counts those that were replaced.
func watchPrimaries(s *Sampler, connector Connector, failovers *observe.Failovers) *observe.PrimaryMonitor {
	monitor := &observe.PrimaryMonitor{Lost: s.Soon, Watch: func(ctx context.Context, key read.Key, addr string) error {
		servers, err := connector.Connect(ctx, key)
		if err != nil {
			return err
		}
		return servers.Watch(ctx, addr)
	}}
	s.Seen = func(key read.Key, answers observe.Answers) {
		monitor.SetPrimaries(key, answers.Primaries())
		failovers.See(key, answers)
	}
	return monitor
}

func setup(a *kube.Area, connector Connector, o Options) error {
	waker := &kube.Waker{}
	sampler := NewSampler(a.Env, connector, waker.Wake)
	failovers := &observe.Failovers{}
	monitor := watchPrimaries(sampler, connector, failovers)
	for _, look := range []func(context.Context) error{sampler.Start, monitor.Start} {
		if err := a.Run(look); err != nil {
			return fmt.Errorf("run sampler: %w", err)
		}
	}
	parts := Parts{Build: o.Build, Restarts: o.Restarts, AwaitKubelet: o.AwaitKubelet, Connector: connector, Sampler: sampler, Monitor: monitor, Failovers: failovers, Work: &kube.Worker[struct{}]{Wake: waker.Wake}}
	parts.Access = &kube.Worker[struct{}]{Wake: func(key read.Key) {
		key.Name, _, _ = strings.Cut(key.Name, "/") // see cluster.SettingsWork
		waker.Wake(key)
	}}
	for _, work := range []*kube.Worker[struct{}]{parts.Work, parts.Access} {
		if err := a.Run(work.Start); err != nil {
			return fmt.Errorf("run worker: %w", err)
		}
	}
	if err := a.Index(Indexes()...); err != nil {
		return err
	}
	if err := kube.Add(a, NewUpgrade(a.Env, parts), UpgradeWakes()...); err != nil {
		return err
	}
	if err := kube.Add(a, NewCluster(a.Env, parts), ClusterWakes(waker)...); err != nil {
		return err
	}
	return collectClusters(a, clusterSeries{sampler, failovers})
}
