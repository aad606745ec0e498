package capture

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What a restorer may do is in config/rbac/capture-restorer: it is not the manager's.

const (
	restores         = 16 // at a time: each may wait for the driver
	firstRestoreTry  = 200 * time.Millisecond
	lastRestoreTry   = 30 * time.Second
	lookForIntents   = 10 * time.Second
	restorerAreaName = "restorer-"
)

// RestorerArea is the process beside a CSI driver.
func RestorerArea(d csi.Driver, c RestorerConfig) kube.AreaSetup {
	return kube.AreaSetup{
		Name: restorerAreaName + c.Driver, AddToScheme: capturev1.AddToScheme, Caches: restorerCaches(),
		Setup: func(a *kube.Area) error { return setupRestorer(a, d, c) },
	}
}

func setupRestorer(a *kube.Area, d csi.Driver, c RestorerConfig) error {
	made, err := controller.New("restorer", a.Manager(), controller.Options{
		Reconciler: NewRestorer(a.Env, d, c), MaxConcurrentReconciles: restores,
		RateLimiter:      workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRestoreTry, lastRestoreTry),
		UsePriorityQueue: ptr.To(false),
	})
	if err != nil {
		return fmt.Errorf("make controller: %w", err)
	}
	requests, err := a.Watch(&capturev1.VolumeRestoreRequest{}, handler.EnqueueRequestsFromMapFunc(RequestedRestore))
	if err != nil {
		return fmt.Errorf("watch requests: %w", err)
	}
	claims, err := a.Watch(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(ClaimedRestore))
	if err != nil {
		return fmt.Errorf("watch claims: %w", err)
	}
	waker := &kube.Waker{}
	for _, s := range []source.Source{waker, requests, claims} {
		if err := made.Watch(s); err != nil {
			return fmt.Errorf("watch for restores: %w", err)
		}
	}
	return a.Every("intents", lookForIntents, func(ctx context.Context) error { return wakeIntents(ctx, a.Env.LiveReader(), c, waker) })
}

// RequestedRestore is the restore of a request. One that is not begun needs nobody.
func RequestedRestore(_ context.Context, obj client.Object) []reconcile.Request {
	r := obj.(*capturev1.VolumeRestoreRequest)
	switch r.Status.Phase {
	case volumerestore.Pending, volumerestore.Preparing, "":
		return nil
	}
	return []reconcile.Request{{NamespacedName: RestoreKey(r.Namespace, r.Name, r.UID, r.Spec.VolumeClaimTemplate.Name)}}
}

// ClaimedRestore is the restore that a claim was made for.
func ClaimedRestore(_ context.Context, obj client.Object) []reconcile.Request {
	c := obj.(*corev1.PersistentVolumeClaim)
	uid := c.Annotations[capturev1.RestoreAnnotation]
	if from := c.Spec.DataSourceRef; uid != "" && from != nil && from.Kind == "VolumeRestoreRequest" && c.Spec.DataSourceRef.APIGroup != nil && *from.APIGroup == capturev1.GroupName {
		return []reconcile.Request{{NamespacedName: RestoreKey(c.Namespace, from.Name, types.UID(uid), c.Name)}}
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
