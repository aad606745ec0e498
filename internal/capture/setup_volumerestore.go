package capture

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

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
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;delete
// +kubebuilder:rbac:groups="",resources=serviceaccounts,resourceNames=statecraft-capture,verbs=impersonate

// VolumeRestoreParts are what the controller of VolumeRestoreRequests needs besides an Env.
type VolumeRestoreParts struct {
	Rights observe.Rights
	// As is the client of the account of a namespace.
	As func(namespace string) (client.Client, error)
}

const volumeRestoreWriter = "volumerestore"

// NewVolumeRestore builds the controller of VolumeRestoreRequests.
func NewVolumeRestore(e kube.Env, c Config, p VolumeRestoreParts) *kube.Reconciler[*capturev1.VolumeRestoreRequest, volumerestore.World] {
	r := kube.NewReconciler(e, &volumerestore.Machine)
	keeping := observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()}
	r.Observe = observe.VolumeRestore{Keeping: keeping, Live: e.LiveReader(), Namespace: c.Namespace, Rights: p.Rights}.Observe
	r.Act = act.VolumeRestore{Writer: e.Writer(volumeRestoreWriter), As: func(namespace string) (kube.Writer, error) {
		as, err := p.As(namespace)
		if err != nil {
			return kube.Writer{}, err
		}
		account := e
		account.Client = as
		return account.Writer(volumeRestoreWriter), nil
	}}.Act
	return r
}

func setupVolumeRestore(a *kube.Area, c Config) error {
	rights, err := rightsOf(a)
	if err != nil {
		return err
	}
	return kube.Add(a, NewVolumeRestore(a.Env, c, VolumeRestoreParts{Rights: rights, As: accounts(a)}), VolumeRestoreWakes()...)
}

// accounts act as the account of a namespace, which does there for users what they ask for.
func accounts(a *kube.Area) func(namespace string) (client.Client, error) {
	return func(namespace string) (client.Client, error) {
		return a.Impersonator().Client(kube.Account(namespace, act.Account))
	}
}
