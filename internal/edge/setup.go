// Package edge wires the controllers of area edge.
package edge

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/act"
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/observe"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What the area may do.
//
// +kubebuilder:rbac:groups=edge.statecraft.dev,resources=edgepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=edge.statecraft.dev,resources=edgepools/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=nodes/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get
// +kubebuilder:rbac:groups="",resources=namespaces,resourceNames=kube-system,verbs=get
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=secrets,verbs=get
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kube-node-lease,resources=leases,verbs=get;create;patch

// Progress is the annotation in which a pod keeps how far it is.
const Progress = "edge.statecraft.dev/progress"

// keepEvery is how often Nodes and Leases are looked at. At rest that reads the cache alone.
const keepEvery = time.Second

// Area is area edge.
func Area() kube.AreaSetup { return NewArea(connect) }

// NewArea is area edge with a Connector that may lead to a fake.
func NewArea(connector func(kube.Env) Connector) kube.AreaSetup {
	return kube.AreaSetup{
		Name: "edge", AddToScheme: edgev1.AddToScheme, Kinds: Kinds(), Caches: Caches(),
		Setup: func(a *kube.Area) error { return setup(a, connector(a.Env)) },
	}
}

// Kinds are those that have a machine in the area. A pod is no kind of ours.
func Kinds() []kube.Kind { return []kube.Kind{kube.KindOf(edgev1.GroupName, &pool.Machine)} }

// Sweeps is the sampler of pools.
type Sweeps = kube.Sampler[observe.Sweep]

// Parts are what the controllers of the area share.
type Parts struct {
	Cluster   entry.Cluster
	Connector Connector
	Sweeper   observe.Sweeper
	Sweeps    *Sweeps
	Keeper    *act.Keeper
	pace      pace
}

// NewParts builds them. pools wakes pools, and pods wakes pods.
func NewParts(e kube.Env, cluster entry.Cluster, connector Connector, pools, pods func(read.Key)) *Parts {
	p := &Parts{Cluster: cluster, Connector: connector, Sweeps: &Sweeps{Wake: pools, Now: e.Now}}
	p.Sweeper = observe.Sweeper{Cached: e.Cached(), Live: e.LiveReader(), Connect: p.reads, Cluster: cluster, Now: e.Now, Last: p.last}
	p.Sweeps.Take, p.Sweeps.Same = p.Sweeper.Take, p.Sweeper.Same
	was := map[read.Key]observe.Sweep{}
	p.Sweeps.Seen = func(key read.Key, is observe.Sweep) { // the sampler calls it for one sweep at a time
		for _, name := range observe.Changed(was[key], is) {
			of, _ := node.Name(name)
			for _, key := range podsOn(context.Background(), e.Cached(), of) {
				pods(key)
			}
		}
		was[key] = is
	}
	nodes := observe.Nodes{Cached: e.Cached(), Cluster: cluster, Last: p.last}
	p.Keeper = &act.Keeper{Nodes: act.Nodes{Writer: e.Writer("nodes")}, Look: nodes.Look, Live: e.LiveReader(), Now: e.Now}
	return p
}

// last is the last sweep of a pool; one that failed for reasons of the API server leaves the sweep before.
func (p *Parts) last(key read.Key) observe.Sweep { return p.Sweeps.Last(key).Value }

func (p *Parts) reads(ctx context.Context, of *edgev1.EdgePool) (observe.Fleet, error) {
	f, err := p.Connector(ctx, of)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// NewPool builds the controller of EdgePools.
func NewPool(e kube.Env, p *Parts) *kube.Reconciler[*edgev1.EdgePool, pool.World] {
	r := kube.NewReconciler(e, &pool.Machine)
	r.Observe = observe.Pool{
		Cached: e.Cached(), Live: e.LiveReader(), Cluster: p.Cluster, Last: p.last, Connected: p.Sweeper.Connected, Problems: p.Keeper.Problems,
	}.Observe
	r.Act = act.Pool{
		Writer: e.Writer("pool"), Cluster: p.Cluster, Now: e.Now,
		Devices: func(ctx context.Context, of *edgev1.EdgePool) (act.Devices, error) { return p.Connector(ctx, of) },
		Bound: func(ctx context.Context) (map[types.UID]string, error) {
			bound, err := observe.BoundPods(ctx, e.LiveReader())
			return observe.DevicesOf(bound), err
		},
	}.Act
	r.AfterPass = func(key read.Key, of *edgev1.EdgePool, found bool) {
		if !found {
			p.Sweeps.Every(key, 0)
			return
		}
		p.Sweeps.Every(key, p.pace.every(key.Name))
		if last := p.Sweeps.Last(key); last.At.IsZero() && last.Err == nil || !last.At.IsZero() && !last.Value.Of(of) {
			p.Sweeps.Soon(key)
		}
	}
	return r
}

// NewPod builds the controller of pods that are bound to Nodes of devices.
func NewPod(e kube.Env, p *Parts) *kube.Reconciler[*pod.Pod, pod.World] {
	r := kube.NewReconciler(e, &pod.Machine)
	r.Store = kube.NewAnnotationStore(e, Progress, pod.Of)
	sites := observe.Sites{Cached: e.Cached(), Cluster: p.Cluster}
	sees := observe.Pod{Sites: sites, Live: e.LiveReader(), Connect: p.reads, Cluster: p.Cluster, Last: p.last, Now: e.Now}
	r.Observe = sees.Observe
	r.Act = act.Pod{Writer: e.Writer("pod"), Cluster: p.Cluster, Site: func(ctx context.Context, of *pod.Pod) (act.Site, error) {
		site, is, err := sites.Of(ctx, of)
		if err != nil {
			return act.Site{}, err
		}
		if !is {
			return act.Site{}, fmt.Errorf("pod %s/%s is on no device of a pool", of.Namespace, of.Name)
		}
		devices, err := p.Connector(ctx, site.Pool)
		return act.Site{
			Devices: devices, Device: site.ID.Device, Others: site.Others,
			Build: func(ctx context.Context) (spec.Conversion, error) { return sees.Conversion(ctx, of) },
		}, err
	}}.Act
	r.Concerns = func(of *pod.Pod) bool {
		if !onDevice(&of.Pod) {
			return false
		}
		_, ours, err := sites.Device(context.Background(), of.Spec.NodeName)
		return ours && err == nil
	}
	r.AfterPass = func(key read.Key, of *pod.Pod, found bool) { p.paced(sites, key, of, found) }
	return r
}

// paced sweeps a pool more often while a pod is on its way to, or from, a device that is heard.
func (p *Parts) paced(sites observe.Sites, key read.Key, of *pod.Pod, found bool) {
	busy := ""
	if found && pod.InFlight(of.Progress.Phase) {
		if id, is, err := sites.Device(context.Background(), of.Spec.NodeName); err == nil && is {
			if seen := p.last(read.Key{Name: id.Pool}).Devices[id.Device]; device.Of(p.Cluster, seen).Believed {
				busy = id.Pool
			}
		}
	}
	for _, name := range p.pace.note(key, busy) {
		if key := (read.Key{Name: name}); !p.Sweeps.Last(key).At.IsZero() {
			p.Sweeps.Every(key, p.pace.every(name))
		}
	}
}

func setup(a *kube.Area, connector Connector) error {
	cluster, err := clusterOf(a.Env.LiveReader())
	if err != nil {
		return err
	}
	pools, pods := &kube.Waker{}, &kube.Waker{}
	parts := NewParts(a.Env, cluster, connector, pools.Wake, pods.Wake)
	if err := a.Index(Indexes()...); err != nil {
		return err
	}
	if err := a.Every("Nodes of devices", keepEvery, parts.Keeper.Keep); err != nil {
		return err
	}
	if err := a.Run(parts.Sweeps.Start); err != nil {
		return fmt.Errorf("run sampler: %w", err)
	}
	if err := kube.Add(a, NewPool(a.Env, parts), PoolWakes(pools)...); err != nil {
		return err
	}
	return kube.Add(a, NewPod(a.Env, parts), PodWakes(pods)...)
}

// namedWithin is how long the API server may take to say which cluster this is.
const namedWithin = 10 * time.Second

// clusterOf names the cluster for good: that namespace lives as long as it does.
func clusterOf(live read.Live) (entry.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), namedWithin)
	defer cancel()
	var ns corev1.Namespace
	if err := live.Get(ctx, read.Key{Name: metav1.NamespaceSystem}, &ns); err != nil {
		return "", fmt.Errorf("find the name of the cluster: %w", err)
	}
	return entry.ClusterOf(ns.UID)
}
