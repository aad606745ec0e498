package capture

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/ttl"
)

// The scanner lists and deletes.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests;manifestcapturerequests,verbs=list;delete

// NewScanner builds what deletes requests that ended long ago. Restores have no term: what
// they made is the user's, and an applied restore that vanished would be applied again.
func NewScanner(e kube.Env, c Config) ttl.Scanner {
	terms := ttl.Terms{Failed: c.TTLFailed, Succeeded: c.TTLSucceeded}
	return ttl.New(e, func(kind string) { metricDeletions.WithLabelValues(kind).Inc() },
		ttl.Of("VolumeCaptureRequest", terms, func() client.ObjectList { return &capturev1.VolumeCaptureRequestList{} }, endOfVolumeCapture),
		ttl.Of("ManifestCaptureRequest", terms, func() client.ObjectList { return &capturev1.ManifestCaptureRequestList{} }, endOfManifestCapture))
}

// endOfVolumeCapture spares detached volumes: each is the only copy of its data, and a failed
// request may be all that still says where it is.
func endOfVolumeCapture(r *capturev1.VolumeCaptureRequest) ttl.End {
	end := ttl.NewEnd(r.Status.Conditions, r.Status.CompletionTimestamp)
	end.Spared = r.Spec.Mode == capturev1.Detach
	return end
}

func endOfManifestCapture(r *capturev1.ManifestCaptureRequest) ttl.End {
	return ttl.NewEnd(r.Status.Conditions, r.Status.CompletionTimestamp)
}

func setupTTL(a *kube.Area, c Config) error { return NewScanner(a.Env, c).Run(a) }
