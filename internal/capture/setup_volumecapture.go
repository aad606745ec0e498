package capture

import (
	"context"
	"fmt"
	"strings"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What captures of volumes may do.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests,verbs=get;list;watch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests/status,verbs=patch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=objectkeepers,verbs=create
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotclasses,verbs=get;list
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotcontents,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=persistentvolumeclaims,verbs=create
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list

// NewVolumeCapture builds the controller of VolumeCaptureRequests.
func NewVolumeCapture(e kube.Env, c Config, watch read.Watch) *kube.Reconciler[*capturev1.VolumeCaptureRequest, volumecapture.World] {
	r := kube.NewReconciler(e, &volumecapture.Machine)
	keeping := observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()}
	r.Observe = observe.VolumeCapture{Keeping: keeping, Live: e.LiveReader(), Watch: watch, Namespace: c.Namespace}.Observe
	r.Act = act.VolumeCapture{Writer: e.Writer("volumecapture"), Live: e.LiveReader(), Namespace: c.Namespace, Grace: c.NamespaceGrace}.Act
	return r
}

// NewDeletionReconciler builds what touches contents that hang while they are deleted.
func NewDeletionReconciler(e kube.Env) reconcile.Reconciler {
	return act.DeletionNudger{Writer: e.Writer("volumecapture"), Live: e.LiveReader(), Now: e.Now}
}

// wokenBy is the index of unfinished captures by what wakes them.
const wokenBy = "wokenBy"

func setupVolumeCapture(a *kube.Area, c Config) error {
	mgr := a.Manager()
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &capturev1.VolumeCaptureRequest{}, wokenBy, wakers); err != nil {
		return fmt.Errorf("index captures: %w", err)
	}
	names, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make metadata client: %w", err)
	}
	waker, nudger := &kube.Waker{}, newDeletionNudger(NewDeletionReconciler(a.Env))
	watch := kube.NewOptionalWatch(names, mgr.GetRESTMapper(), func(gvk schema.GroupVersionKind, obj *metav1.PartialObjectMetadata) {
		nudger.enqueue(gvk, obj)
		for _, by := range wakes(gvk, obj, c.Namespace) {
			wakeCaptures(mgr.GetClient(), waker, by)
		}
	}).TellUpdates()
	for _, run := range []func(context.Context) error{watch.Start, nudger.run, func(ctx context.Context) error { return watchContents(ctx, watch) }} {
		if err := a.Run(run); err != nil {
			return fmt.Errorf("run watches: %w", err)
		}
	}
	return kube.Add(a, NewVolumeCapture(a.Env, c, watch), waker, kube.Mapped(a, &capturev1.ObjectKeeper{}, followedCapture))
}

// wakers are what wakes a capture; nothing wakes one that has ended.
func wakers(obj client.Object) []string {
	r := obj.(*capturev1.VolumeCaptureRequest)
	if volumecapture.Ended(r) {
		return nil
	}
	by := []string{"uid/" + string(r.UID), "claim/" + r.Namespace + "/" + r.Spec.Target.Name}
	if r.Status.Detached != nil {
		by = append(by, "volume/"+r.Status.Detached.Name)
	}
	return by
}

// wakes are the entries of the index that a change wakes. Names of what captures make hold
// the request's UID; that somebody else may have such a name only costs a look.
func wakes(gvk schema.GroupVersionKind, obj *metav1.PartialObjectMetadata, holders string) []string {
	switch gvk.Kind {
	case "VolumeSnapshotContent":
		if uid, ours := strings.CutPrefix(obj.Name, volumecapture.ContentPrefix); ours {
			return []string{"uid/" + uid}
		}
	case "PersistentVolumeClaim":
		by := []string{"claim/" + obj.Namespace + "/" + obj.Name}
		if uid, holds := strings.CutPrefix(obj.Name, volumecapture.HolderName("")); holds && obj.Namespace == holders {
			by = append(by, "uid/"+uid)
		}
		return by
	case "PersistentVolume":
		return []string{"volume/" + obj.Name}
	}
	return nil
}

func wakeCaptures(cached client.Reader, waker *kube.Waker, by string) {
	var woken capturev1.VolumeCaptureRequestList
	if err := cached.List(context.Background(), &woken, client.MatchingFields{wokenBy: by}); err != nil {
		return // the cache has ended, and the process with it
	}
	for i := range woken.Items {
		waker.Wake(client.ObjectKeyFromObject(&woken.Items[i]))
	}
}

// followedCapture is the capture that a keeper follows.
func followedCapture(_ context.Context, obj client.Object) []reconcile.Request {
	ref := obj.(*capturev1.ObjectKeeper).Spec.FollowRef
	if ref == nil || ref.Kind != "VolumeCaptureRequest" || ref.APIVersion != capturev1.GroupVersion.String() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: read.Key{Namespace: ref.Namespace, Name: ref.Name}}}
}

// watchContentsEvery is how soon contents are watched after their kind was installed.
const watchContentsEvery = 10 * time.Second

// watchContents begins the watch of contents, even if nobody makes any: one that hangs may
// be left from before.
func watchContents(ctx context.Context, watch read.Watch) error {
	ticker := time.NewTicker(watchContentsEvery)
	defer ticker.Stop()
	for {
		watch.Look(snapshotv1.SchemeGroupVersion.WithKind("VolumeSnapshotContent"), read.Key{})
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
