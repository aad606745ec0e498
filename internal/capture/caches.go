package capture

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Caches are what the area caches: its own kinds, and the names of claims. Claims are the user's,
// with labels of the user's own, and only wake; what is decided about them is read live, as are
// volumes, contents and Secrets.
func Caches() []kube.Cached {
	return []kube.Cached{
		{Of: &capturev1.ObjectKeeper{}},
		{Of: &capturev1.VolumeCaptureRequest{}}, {Of: &capturev1.VolumeRestoreRequest{}},
		{Of: &capturev1.ManifestCaptureRequest{}}, {Of: &capturev1.ManifestRestoreRequest{}},
		{Of: claimNames()},
	}
}

// claimNames are claims of which nothing is looked at but their names.
func claimNames() *metav1.PartialObjectMetadata {
	claims := &metav1.PartialObjectMetadata{}
	claims.SetGroupVersionKind(claimKind)
	return claims
}

// restorerCaches are what a restorer caches: requests, and of claims what leads to their requests.
// All else is read live.
func restorerCaches() []kube.Cached {
	return []kube.Cached{{Of: &capturev1.VolumeRestoreRequest{}}, {Of: &corev1.PersistentVolumeClaim{}, Strip: stripClaim}}
}

// stripClaim leaves what claimedRestore looks at.
func stripClaim(obj client.Object) {
	c, is := obj.(*corev1.PersistentVolumeClaim)
	if !is {
		return
	}
	kept := metav1.ObjectMeta{
		Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion, DeletionTimestamp: c.DeletionTimestamp,
	}
	if by, restored := c.Annotations[capturev1.RestoreAnnotation]; restored {
		kept.Annotations = map[string]string{capturev1.RestoreAnnotation: by}
	}
	c.ObjectMeta, c.Status = kept, corev1.PersistentVolumeClaimStatus{}
	c.Spec = corev1.PersistentVolumeClaimSpec{DataSourceRef: c.Spec.DataSourceRef}
}
