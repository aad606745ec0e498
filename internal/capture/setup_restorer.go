package capture

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What a restorer may do is in config/rbac/capture-restorer: it is not the manager's.

const (
	restores         = 16 // at a time: each may wait for the driver
	lookForIntents   = 10 * time.Second
	restorerAreaName = "restorer-"
)

// RestorerConfig is what the operator of a restorer chose.
type RestorerConfig struct {
	Driver      string        // the name that the driver gave itself
	CallTimeout time.Duration // of one call of the driver
	Namespace   string        // of intents
	Metadata    bool          // the driver is told the names of claim and volume
	FSType      string        // for classes that name none
}

// NewRestorer builds the controller of restores over a driver. All of its passes may be slow at
// a time, because they wait for the same driver; an effect makes two calls of it at most, and
// what is asked again is answered the same.
func NewRestorer(e kube.Env, d csi.Driver, c RestorerConfig) *kube.Reconciler[*restorer.Restore, restorer.World] {
	r := kube.NewReconciler(e, &restorer.Machine)
	r.Store = NewRestoreStore(e, c)
	r.Observe = observe.Restorer{Live: e.LiveReader(), Driver: c.Driver, Namespace: c.Namespace, Metadata: c.Metadata, FSType: c.FSType}.Observe
	r.Act = act.Restorer{Writer: e.Writer("restorer"), Live: e.LiveReader(), Driver: d, Namespace: c.Namespace, Now: e.Now}.Act
	r.Limits.Workers, r.Limits.Slow = restores, restores
	r.Limits.Act += 2 * c.CallTimeout
	return r
}

// RestorerArea is the process beside a CSI driver.
func RestorerArea(d csi.Driver, c RestorerConfig) kube.AreaSetup {
	return kube.AreaSetup{
		Name: restorerAreaName + c.Driver, AddToScheme: capturev1.AddToScheme, Caches: restorerCaches(),
		Setup: func(a *kube.Area) error { return setupRestorer(a, d, c) },
	}
}

func setupRestorer(a *kube.Area, d csi.Driver, c RestorerConfig) error {
	waker := &kube.Waker{}
	if err := kube.Add(a, NewRestorer(a.Env, d, c), append(RestorerWakes(), kube.Wake{Name: "intents", Waker: waker})...); err != nil {
		return err
	}
	return a.Every("intents", lookForIntents, func(ctx context.Context) error { return wakeIntents(ctx, a.Env.LiveReader(), c, waker) })
}

// RestorerWakes are the watches of a restorer.
func RestorerWakes() []kube.Wake {
	return []kube.Wake{
		{Name: "requests", Of: &capturev1.VolumeRestoreRequest{}, Find: requestedRestore},
		{Name: "claims", Of: &corev1.PersistentVolumeClaim{}, Find: claimedRestore},
	}
}

// requestedRestore is the restore of a request. One that is not begun needs nobody.
func requestedRestore(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	r := obj.(*capturev1.VolumeRestoreRequest)
	switch r.Status.Phase {
	case volumerestore.Pending, volumerestore.Preparing, "":
		return nil
	}
	return []read.Key{RestoreKey(r.Namespace, r.Name, r.UID, r.Spec.VolumeClaimTemplate.Name)}
}

// claimedRestore is the restore that a claim was made for.
func claimedRestore(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	c := obj.(*corev1.PersistentVolumeClaim)
	uid := c.Annotations[capturev1.RestoreAnnotation]
	if from := c.Spec.DataSourceRef; uid != "" && from != nil && from.Kind == "VolumeRestoreRequest" && c.Spec.DataSourceRef.APIGroup != nil && *from.APIGroup == capturev1.GroupName {
		return []read.Key{RestoreKey(c.Namespace, from.Name, types.UID(uid), c.Name)}
	}
	return nil
}

// wakeIntents wakes the restore of every intent, when this process begins to lead and from
// time to time. Nobody but a restorer writes intents, so they need not be watched.
func wakeIntents(ctx context.Context, live read.Live, c RestorerConfig, waker *kube.Waker) error {
	keys, err := IntentKeys(ctx, live, c)
	for _, key := range keys {
		waker.Wake(key)
	}
	return err
}

// IntentKeys are the restores of all intents of a driver.
func IntentKeys(ctx context.Context, live read.Live, c RestorerConfig) (keys []read.Key, err error) {
	var list corev1.ConfigMapList
	if err := live.List(ctx, &list, read.InNamespace(c.Namespace), read.Labels{restorer.IntentLabel: c.Driver}); err != nil {
		return nil, fmt.Errorf("list intents: %w", err)
	}
	for i := range list.Items {
		if intent, err := restorer.ParseIntent(&list.Items[i]); err == nil {
			of := intent.Request
			keys = append(keys, RestoreKey(of.Namespace, of.Name, of.UID, intent.Claim.Name))
		}
	}
	return keys, nil
}
