package capture

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
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
// +kubebuilder:rbac:groups="",resources=serviceaccounts,resourceNames=statecraft-capture,verbs=impersonate
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=secrets,resourceNames=statecraft-capture-keys,verbs=get
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// RestoreParts are what the controller of ManifestRestoreRequests needs besides an Env.
type RestoreParts struct {
	Work   *kube.Worker
	Mapper apimeta.RESTMapper
	// As is the client of the account of a namespace; its reads are live.
	As func(namespace string) (client.Client, error)
	// May says that a requester may do something. Nobody in particular may do nothing.
	May func(ctx context.Context, who *meta.Requester, what *authorizationv1.ResourceAttributes) (bool, error)
}

// NewManifestRestore builds the controller of ManifestRestoreRequests.
func NewManifestRestore(e kube.Env, c Config, p RestoreParts) *kube.Reconciler[*capturev1.ManifestRestoreRequest, manifestrestore.World] {
	r := kube.NewReconciler(e, &manifestrestore.Machine)
	actor := &act.ManifestRestore{
		Writer: e.Writer("manifestrestorerequest"), Live: e.LiveReader(), Work: p.Work,
		As: p.As, May: p.May, Mapper: p.Mapper, Now: e.Now, System: c.Namespace,
	}
	r.Observe = observe.ManifestRestore{
		Keeping: observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()},
		Works:   p.Work, Reports: actor, System: c.Namespace,
	}.Observe
	r.Act, r.AfterPass = actor.Act, actor.AfterPass
	return r
}

// restoredAtOnce is how many checkpoints are restored at a time: each job holds a frame of its own, and an outline of
// every object.
const restoredAtOnce = 4

func setupManifestRestore(a *kube.Area, c Config) error {
	mgr, waker := a.Manager(), &kube.Waker{}
	parts := RestoreParts{
		Work: &kube.Worker{Wake: waker.Wake, Slots: make(chan struct{}, restoredAtOnce)}, Mapper: mgr.GetRESTMapper(),
		As:  impersonate(mgr.GetConfig(), mgr.GetScheme(), mgr.GetRESTMapper()),
		May: mayDo(mgr.GetClient()),
	}
	if err := a.Run(parts.Work.Start); err != nil {
		return fmt.Errorf("run restores: %w", err)
	}
	return kube.Add(a, NewManifestRestore(a.Env, c, parts), ManifestRestoreWakes(waker)...)
}

// impersonate makes clients of the account of a namespace. The API server holds them to what
// that account may do, escalation of roles included. No groups are named: the API server adds
// those of a ServiceAccount itself, and the manager needs no right to impersonate groups.
func impersonate(cfg *rest.Config, scheme *runtime.Scheme, mapper apimeta.RESTMapper) func(string) (client.Client, error) {
	return func(namespace string) (client.Client, error) {
		as := rest.CopyConfig(cfg)
		as.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + act.Account}
		return client.New(as, client.Options{Scheme: scheme, Mapper: mapper})
	}
}

// mayDo asks the API server what a requester may do.
func mayDo(c client.Client) func(context.Context, *meta.Requester, *authorizationv1.ResourceAttributes) (bool, error) {
	return func(ctx context.Context, who *meta.Requester, what *authorizationv1.ResourceAttributes) (bool, error) {
		if who == nil {
			return false, nil
		}
		extra := map[string]authorizationv1.ExtraValue{}
		for key, values := range who.Extra {
			extra[key] = authorizationv1.ExtraValue(values)
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: who.Username, UID: who.UID, Groups: who.Groups, Extra: extra, ResourceAttributes: what,
		}}
		if err := c.Create(ctx, review); err != nil {
			return false, fmt.Errorf("review access: %w", err)
		}
		return review.Status.Allowed, nil
	}
}
