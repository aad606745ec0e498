package capture

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What restores of volumes may do. They make no claim and no volume: that is the restorer's.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumerestorerequests,verbs=get;list;watch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumerestorerequests/status,verbs=patch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests,verbs=get;list;watch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=objectkeepers,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotcontents,verbs=get
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;create;delete

// NewVolumeRestore builds the controller of VolumeRestoreRequests.
func NewVolumeRestore(e kube.Env, c Config) *kube.Reconciler[*capturev1.VolumeRestoreRequest, volumerestore.World] {
	r := kube.NewReconciler(e, &volumerestore.Machine)
	keeping := observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()}
	r.Observe = observe.VolumeRestore{Keeping: keeping, Live: e.LiveReader(), Namespace: c.Namespace}.Observe
	r.Act = act.VolumeRestore{Writer: e.Writer("volumerestore")}.Act
	return r
}

// restoreWokenBy is the index of unfinished restores by what wakes them.
const restoreWokenBy = "restoreWokenBy"

func setupVolumeRestore(a *kube.Area, c Config) error {
	mgr := a.Manager()
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &capturev1.VolumeRestoreRequest{}, restoreWokenBy, restoreWakers); err != nil {
		return fmt.Errorf("index restores: %w", err)
	}
	claims := &metav1.PartialObjectMetadata{}
	claims.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"})
	by := func(kind string) func(context.Context, client.Object) []reconcile.Request {
		return func(ctx context.Context, obj client.Object) []reconcile.Request {
			return restoresWokenBy(ctx, mgr.GetClient(), kind+"/"+obj.GetNamespace()+"/"+obj.GetName())
		}
	}
	return kube.Add(a, NewVolumeRestore(a.Env, c),
		kube.Mapped(a, claims, by("claim")),
		kube.Mapped(a, &capturev1.VolumeCaptureRequest{}, by("capture")),
		kube.Mapped(a, &capturev1.ObjectKeeper{}, followedRestore))
}

// restoreWakers are what wakes a restore; nothing wakes one that has ended.
func restoreWakers(obj client.Object) []string {
	r := obj.(*capturev1.VolumeRestoreRequest)
	if r.Status.Phase == volumerestore.Succeeded || r.Status.Phase == volumerestore.Failed {
		return nil
	}
	by := []string{"claim/" + r.Namespace + "/" + r.Spec.VolumeClaimTemplate.Name}
	if from := r.Spec.Source.VolumeCaptureRequest; from != nil && r.Status.Source == nil {
		namespace := from.Namespace
		if namespace == "" {
			namespace = r.Namespace
		}
		by = append(by, "capture/"+namespace+"/"+from.Name)
	}
	return by
}

func restoresWokenBy(ctx context.Context, cached client.Reader, by string) (woken []reconcile.Request) {
	var list capturev1.VolumeRestoreRequestList
	if err := cached.List(ctx, &list, client.MatchingFields{restoreWokenBy: by}); err != nil {
		return nil // the cache has ended, and the process with it
	}
	for i := range list.Items {
		woken = append(woken, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return woken
}

// followedRestore is the restore that a keeper follows.
func followedRestore(_ context.Context, obj client.Object) []reconcile.Request {
	ref := obj.(*capturev1.ObjectKeeper).Spec.FollowRef
	if ref == nil || ref.Kind != "VolumeRestoreRequest" || ref.APIVersion != capturev1.GroupVersion.String() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: read.Key{Namespace: ref.Namespace, Name: ref.Name}}}
}
