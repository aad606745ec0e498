package act

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// captureWithin is for how long a capture may be tried, in seconds.
const captureWithin = 600

// captureVolume makes a capture of one volume. It has no owner: it is there to be restored
// when the upgrade is gone.
func (a Upgrade) captureVolume(ctx context.Context, u *valkeyv1.ValkeyUpgrade, e upgrade.CaptureVolume) error {
	r := &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.Namespace, Name: e.Name,
			Labels:      map[string]string{valkeyv1.ClusterLabel: u.Spec.ClusterRef.Name},
			Annotations: map[string]string{valkeyv1.CaptureAnnotation: string(u.UID)},
		},
		Spec: capturev1.VolumeCaptureRequestSpec{
			Target: capturev1.ClaimTarget{Name: e.Claim}, Mode: capturev1.Snapshot, DeadlineSeconds: captureWithin,
		},
	}
	there := &capturev1.VolumeCaptureRequest{}
	return a.Pods.CreateUnowned(ctx, r, there, func() bool {
		return there.Annotations[valkeyv1.CaptureAnnotation] == string(u.UID)
	})
}
