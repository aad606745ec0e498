package capture

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// What captures of manifests need. Objects of a namespace are not read with the manager's
// rights but with those of the namespace's own ServiceAccount, and only of that name. Which
// versions another server serves is not told by discovery.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcapturerequests,verbs=get;list;watch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcapturerequests/status,verbs=patch
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests,verbs=get
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=objectkeepers,verbs=create
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcheckpoints;manifestcheckpointcontentchunks,verbs=get;list;create;delete
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,verbs=list
// +kubebuilder:rbac:groups="",resources=serviceaccounts,resourceNames=statecraft-capture,verbs=impersonate
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=statecraft-capture-keys,namespace=statecraft-system,verbs=get

// ManifestCaptureParts are what captures of manifests are made with.
type ManifestCaptureParts struct {
	Source act.Source
	Work   *kube.Worker[manifestcapture.Result]
	Buffer *act.CaptureBuffer
	Rights observe.Rights
}

// NewManifestCapture builds the controller of ManifestCaptureRequests.
func NewManifestCapture(e kube.Env, c Config, p ManifestCaptureParts) *kube.Reconciler[*capturev1.ManifestCaptureRequest, manifestcapture.World] {
	r := kube.NewReconciler(e, &manifestcapture.Machine)
	r.Observe = observe.ManifestCapture{
		Keeping: observe.Keeping{Cached: e.Cached(), Live: e.LiveReader()},
		Live:    e.LiveReader(), Work: p.Work, KeysIn: c.Namespace, Rights: p.Rights,
		Limits: c.limits(), Budget: c.budget(),
	}.Observe
	r.Act = act.ManifestCapture{
		Writer: e.Writer("manifestcapture"), Live: e.LiveReader(), Work: p.Work, Buffer: p.Buffer, Source: p.Source,
		KeysIn: c.Namespace, Terms: c.terms(), Rights: p.Rights.Now, Budget: c.budget(),
		Held: func(ctx context.Context, namespace types.UID) (int64, int64, error) {
			return observe.Held(ctx, e.LiveReader(), namespace)
		},
	}.Act
	r.AfterPass = func(key read.Key, obj *capturev1.ManifestCaptureRequest, found bool) {
		if phase := obj.Status.Phase; !found || phase == manifestcapture.Succeeded || phase == manifestcapture.Failed {
			p.Work.Forget(key)
			p.Buffer.Drop(key)
		}
	}
	return r
}

func setupManifestCapture(a *kube.Area, c Config) error {
	source, err := act.NewServer(a.Manager().GetConfig())
	if err != nil {
		return fmt.Errorf("make source of captures: %w", err)
	}
	rights, err := rightsOf(a)
	if err != nil {
		return err
	}
	waker := &kube.Waker{}
	parts := ManifestCaptureParts{Rights: rights, Source: source, Work: &kube.Worker[manifestcapture.Result]{Wake: waker.Wake}, Buffer: act.NewCaptureBuffer(true)}
	if err := a.Run(parts.Work.Start); err != nil {
		return fmt.Errorf("run work of captures: %w", err)
	}
	return kube.Add(a, NewManifestCapture(a.Env, c, parts), ManifestCaptureWakes(waker)...)
}
