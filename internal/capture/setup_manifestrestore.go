package capture

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// What restores of manifests need. Objects of users are not here: those are read and written
// as the ServiceAccount of their namespace, which may do what users allowed it.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestrestorerequests,verbs=get;list;watch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestrestorerequests/status,verbs=patch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=objectkeepers,verbs=create
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcapturerequests,verbs=get;list;watch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcheckpoints;manifestcheckpointcontentchunks,verbs=get
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumerestorerequests,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotcontents,verbs=get
// +kubebuilder:rbac:groups="",resources=serviceaccounts,resourceNames=statecraft-capture,verbs=impersonate
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=secrets,resourceNames=statecraft-capture-keys,verbs=get

// RestoreParts are what the controller of ManifestRestoreRequests needs besides an Env.
type RestoreParts struct {
	Work   *kube.Worker[*manifestrestore.Report]
	Mapper apimeta.RESTMapper
	// As is the client of the account of a namespace; its reads are live.
	As func(namespace string) (client.Client, error)
	// Rights says what a requester may do.
	Rights observe.Rights
}

// NewManifestRestore builds the controller of ManifestRestoreRequests.
func NewManifestRestore(e kube.Env, c Config, p RestoreParts) *kube.Reconciler[*capturev1.ManifestRestoreRequest, manifestrestore.World] {
	r := kube.NewReconciler(e, &manifestrestore.Machine)
	actor := &act.ManifestRestore{
		Writer: e.Writer("manifestrestorerequest"), Live: e.LiveReader(), Work: p.Work,
		As: p.As, May: p.Rights.May, Rights: p.Rights.Now, Mapper: p.Mapper, Now: e.Now, System: c.Namespace,
	}
	r.Observe = observe.ManifestRestore{
		Keeping: observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()},
		Works:   p.Work, System: c.Namespace, Rights: p.Rights,
	}.Observe
	r.Act, r.AfterPass = actor.Act, actor.AfterPass
	return r
}

// restoredAtOnce is how many checkpoints are restored at a time: each job holds a frame of its own, and an outline of
// every object.
const restoredAtOnce = 4

func setupManifestRestore(a *kube.Area, c Config) error {
	mgr, waker := a.Manager(), &kube.Waker{}
	rights, err := rightsOf(a)
	if err != nil {
		return err
	}
	parts := RestoreParts{
		Work: &kube.Worker[*manifestrestore.Report]{Wake: waker.Wake, Slots: make(chan struct{}, restoredAtOnce)}, Mapper: mgr.GetRESTMapper(),
		As:     accounts(a),
		Rights: rights,
	}
	if err := a.Run(parts.Work.Start); err != nil {
		return fmt.Errorf("run restores: %w", err)
	}
	return kube.Add(a, NewManifestRestore(a.Env, c, parts), ManifestRestoreWakes(waker)...)
}
