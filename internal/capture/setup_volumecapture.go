package capture

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
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
func NewVolumeCapture(e kube.Env, c Config, watch read.Watch, rights observe.Rights) *kube.Reconciler[*capturev1.VolumeCaptureRequest, volumecapture.World] {
	r := kube.NewReconciler(e, &volumecapture.Machine)
	keeping := observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()}
	r.Observe = observe.VolumeCapture{
		Keeping: keeping, Live: e.LiveReader(), Watch: watch, Namespace: c.Namespace, Rights: rights, Limits: c.limits(),
	}.Observe
	r.Act = act.VolumeCapture{Writer: e.Writer("volumecapture"), Live: e.LiveReader(), Namespace: c.Namespace, Terms: c.terms()}.Act
	return r
}

// NewDeletionReconciler builds what touches contents that hang while they are deleted.
func NewDeletionReconciler(e kube.Env) reconcile.Reconciler {
	return act.DeletionNudger{Writer: e.Writer("volumecapture"), Live: e.LiveReader(), Now: e.Now}
}

func setupVolumeCapture(a *kube.Area, c Config) error {
	mgr := a.Manager()
	names, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make metadata client: %w", err)
	}
	waker, nudger := &kube.Waker{}, newDeletionNudger(NewDeletionReconciler(a.Env))
	wakes := VolumeCaptureWakes(c, waker)
	tell := kube.Tell(a.Env.Cached(), waker, wakes...)
	watch := kube.NewOptionalWatch(names, mgr.GetRESTMapper(), func(gvk schema.GroupVersionKind, obj *metav1.PartialObjectMetadata) {
		nudger.enqueue(gvk, obj)
		tell(gvk, obj)
	}).TellUpdates()
	for _, run := range []func(context.Context) error{watch.Start, nudger.run} {
		if err := a.Run(run); err != nil {
			return fmt.Errorf("run watches: %w", err)
		}
	}
	if err := a.Every("contents", watchContentsEvery, func(context.Context) error { watchContents(watch); return nil }); err != nil {
		return err
	}
	rights, err := rightsOf(a)
	if err != nil {
		return err
	}
	return kube.Add(a, NewVolumeCapture(a.Env, c, watch, rights), wakes...)
}

// watchContentsEvery is how soon contents are watched after their kind was installed.
const watchContentsEvery = 10 * time.Second

// watchContents begins the watch of contents, even if no capture makes any: one that hangs may
// be left from before.
func watchContents(watch read.Watch) { watch.Look(contentKind, read.Key{}) }
