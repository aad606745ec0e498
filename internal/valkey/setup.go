// Package valkey wires the controllers of area valkey.
package valkey

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/act"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// What the area may do.
//
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters/status,verbs=patch
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyupgrades,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyupgrades/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;delete

// Area is area valkey.
func Area(build spec.Builder) kube.AreaSetup {
	return NewArea(func(e kube.Env) Door {
		d := &doors{cached: e.Cached(), live: e.LiveReader(), open: wire.NewClient(), locked: map[read.Key]*door{}}
		return d.to
	}, build)
}

// NewArea is area valkey behind a door to Valkey that may lead to a fake.
func NewArea(door func(kube.Env) Door, build spec.Builder) kube.AreaSetup {
	setup := func(a *kube.Area) error { return setup(a, door(a.Env), build) }
	return kube.AreaSetup{Name: "valkey", AddToScheme: valkeyv1.AddToScheme, Setup: setup}
}

// asked is how many clusters are looked at at a time.
const asked = 16

// Servers is the door to Valkey, real or fake.
type Servers interface {
	wire.Reader
	wire.Writer
	wire.Mover
}

// Sampler looks at the servers of clusters.
type Sampler = kube.Sampler[observe.Answers]

// NewSampler builds the sampler that the controller of clusters reads.
func NewSampler(e kube.Env, door Door, wake func(read.Key)) *Sampler {
	readers := func(ctx context.Context, key read.Key) (wire.Reader, error) { return door(ctx, key) }
	return &Sampler{
		Take: observe.Servers{Cached: e.Cached(), Door: readers}.Take,
		Same: observe.Same, Wake: wake, Now: e.Now, Budget: asked,
	}
}

// NewCluster builds the controller of ValkeyClusters.
func NewCluster(e kube.Env, build spec.Builder, door Door, sampler *Sampler, work *kube.Worker) *kube.Reconciler[*valkeyv1.ValkeyCluster, cluster.World] {
	r := kube.NewReconciler(e, &cluster.Machine)
	r.Observe = observe.Cluster{
		Build:  build,
		Cached: e.Cached(), Live: e.LiveReader(), Reservations: e.Reservations().Reservations, Servers: sampler, Work: work,
	}.Observe
	actors := func(ctx context.Context, key read.Key) (act.Servers, error) { return door(ctx, key) }
	r.Act = act.Cluster{
		Build:    build,
		Children: e.Writer("valkeycluster"), Marks: e.Writer("valkeycluster-formed"),
		Reservations: e.Reservations(), Door: actors, Live: e.LiveReader(), Work: work,
	}.Act
	r.Then = func(key read.Key, c *valkeyv1.ValkeyCluster, found bool) {
		if !found {
			sampler.Every(key, 0)
			work.Forget(key)
			return
		}
		sampler.Every(key, observe.Every(c.Status.Phase, cluster.Wanted(c).Nodes()))
	}
	return r
}

func setup(a *kube.Area, door Door, build spec.Builder) error {
	waker := &kube.Waker{}
	sampler := NewSampler(a.Env, door, waker.Wake)
	if err := a.Run(sampler.Start); err != nil {
		return fmt.Errorf("run sampler: %w", err)
	}
	work := &kube.Worker{Wake: waker.Wake}
	if err := a.Run(work.Start); err != nil {
		return fmt.Errorf("run worker: %w", err)
	}
	return kube.Add(a, NewCluster(a.Env, build, door, sampler, work), waker,
		changed(a, &corev1.Service{}),
		changed(a, &corev1.ConfigMap{}),
		changed(a, &policyv1.PodDisruptionBudget{}),
		changed(a, &appsv1.StatefulSet{}),
		kube.Mapped(a, &corev1.Pod{}, clusterOf),
		kube.Mapped(a, &valkeyv1.ValkeyUpgrade{}, upgraded),
	)
}

// changed wakes the owner of a child that was changed or removed. That one was made
// is no news: whoever made it is about to look, and would only look too early.
func changed(a *kube.Area, child client.Object) source.Source {
	mgr := a.Manager()
	owner := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &valkeyv1.ValkeyCluster{}, handler.OnlyControllerOwner())
	news := predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
	return source.Kind[client.Object](mgr.GetCache(), child, owner, news)
}

// clusterOf wakes the cluster whose name a pod bears. Whether the pod is really its
// own is for the observer to find out.
func clusterOf(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[valkeyv1.ClusterLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: read.Key{Namespace: pod.GetNamespace(), Name: name}}}
}

// upgraded wakes the cluster that an upgrade is of: it may ask for something.
func upgraded(_ context.Context, obj client.Object) []reconcile.Request {
	u, is := obj.(*valkeyv1.ValkeyUpgrade)
	if !is {
		return nil
	}
	return []reconcile.Request{{NamespacedName: read.Key{Namespace: u.Namespace, Name: u.Spec.ClusterRef.Name}}}
}
