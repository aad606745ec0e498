// Package capture wires the controllers of area capture.
package capture

import (
	"context"
	"fmt"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What the area may do. Which kinds it may follow is not here: see the
// aggregated ClusterRole statecraft-capture-followable.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=objectkeepers,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=objectkeepers/status,verbs=patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// Area is area capture.
func Area(c Config) kube.AreaSetup {
	return kube.AreaSetup{
		Name: "capture", AddToScheme: AddToScheme, Kinds: Kinds(), Caches: Caches(),
		Setup: func(a *kube.Area) error {
			c.Namespace = a.Env.Namespace
			return setup(a, c)
		},
	}
}

// Kinds are those that have a machine in the area.
func Kinds() []kube.Kind {
	group := capturev1.GroupVersion.Group
	return []kube.Kind{
		kube.KindOf(group, &keeper.Machine), kube.KindOf(group, &volumecapture.Machine), kube.KindOf(group, &volumerestore.Machine),
		kube.KindOf(group, &manifestcapture.Machine), kube.KindOf(group, &manifestrestore.Machine),
	}
}

// AddToScheme registers every kind that the area reads or writes.
func AddToScheme(s *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, snapshotv1.AddToScheme, capturev1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

// unwatchEvery is how often watches of kinds that nobody follows any more are ended.
const unwatchEvery = 5 * time.Minute

// NewKeeper builds the controller of ObjectKeepers.
func NewKeeper(e kube.Env, watch read.Watch, mapper apimeta.RESTMapper) *kube.Reconciler[*capturev1.ObjectKeeper, keeper.World] {
	r := kube.NewReconciler(e, &keeper.Machine)
	r.Observe = observe.Keeper{Watch: watch, Live: e.LiveReader(), Mapper: mapper}.Observe
	r.Act = act.Keeper{Writer: e.Writer("objectkeeper")}.Act
	r.QuietWhileReady = func(key read.Key) bool { return request.IsKeeperName(key.Name) }
	return r
}

func setup(a *kube.Area, c Config) error {
	if err := a.Index(Indexes()...); err != nil {
		return err
	}
	mgr := a.Manager()
	names, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make metadata client: %w", err)
	}
	waker := &kube.Waker{}
	wakes := KeeperWakes(waker)
	watch := kube.NewOptionalWatch(names, mgr.GetRESTMapper(), kube.Tell(a.Env.Cached(), waker, wakes...))
	if err := a.Run(watch.Start); err != nil {
		return fmt.Errorf("run watches: %w", err)
	}
	if err := a.Every("followed kinds", unwatchEvery, func(ctx context.Context) error { return unwatch(ctx, mgr.GetClient(), watch) }); err != nil {
		return err
	}
	if err := kube.Add(a, NewKeeper(a.Env, watch, mgr.GetRESTMapper()), wakes...); err != nil {
		return err
	}
	for _, part := range parts {
		if err := part(a, c); err != nil {
			return err
		}
	}
	return nil
}

// parts are what the area runs besides keepers.
var parts = []func(*kube.Area, Config) error{
	setupPolicies,
	setupKeys,
	setupTTL,
	setupVolumeRestore,
	setupLeaks,
	setupManifestCapture,
	setupManifestRestore,
	setupVolumeCapture,
	collectClaims,
}

// unwatch ends watches of kinds that no keeper follows.
func unwatch(ctx context.Context, cached client.Reader, watch *kube.OptionalWatch) error {
	var keepers capturev1.ObjectKeeperList
	if err := cached.List(ctx, &keepers); err != nil {
		return fmt.Errorf("list keepers: %w", err)
	}
	wanted := map[schema.GroupVersionKind]bool{}
	for i := range keepers.Items {
		if ref := keepers.Items[i].Spec.FollowRef; ref != nil {
			wanted[schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)] = true
		}
	}
	watch.Keep(func(gvk schema.GroupVersionKind) bool { return wanted[gvk] })
	return nil
}
