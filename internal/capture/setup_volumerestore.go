package capture

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
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
func NewVolumeRestore(e kube.Env, c Config, rights observe.Rights) *kube.Reconciler[*capturev1.VolumeRestoreRequest, volumerestore.World] {
	r := kube.NewReconciler(e, &volumerestore.Machine)
	keeping := observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()}
	r.Observe = observe.VolumeRestore{Keeping: keeping, Live: e.LiveReader(), Namespace: c.Namespace, Rights: rights}.Observe
	r.Act = act.VolumeRestore{Writer: e.Writer("volumerestore")}.Act
	return r
}

func setupVolumeRestore(a *kube.Area, c Config) error {
	rights, err := rightsOf(a.Env, c)
	if err != nil {
		return err
	}
	return kube.Add(a, NewVolumeRestore(a.Env, c, rights), VolumeRestoreWakes()...)
}
