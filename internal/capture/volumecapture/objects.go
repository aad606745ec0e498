package volumecapture

import (
	"encoding/json"
	"fmt"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// What the snapshot controller and its sidecar go by.
const (
	// BeingDeleted lets the sidecar delete the snapshot with its content. The controller
	// would set it when the VolumeSnapshot goes; here there never is one.
	BeingDeleted = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
	// BeingCreated is there while the driver may be making the snapshot.
	BeingCreated = "snapshot.storage.kubernetes.io/volumesnapshot-being-created"
	// BoundProtection is the sidecar's finalizer. The controller would add it a moment later;
	// a content that is deleted before that leaves its snapshot behind.
	BoundProtection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"

	deletionSecretName      = "snapshot.storage.kubernetes.io/deletion-secret-name"      //nolint:gosec // a key, not a secret
	deletionSecretNamespace = "snapshot.storage.kubernetes.io/deletion-secret-namespace" //nolint:gosec // a key, not a secret
)

// NewContent is the content that has the driver make a snapshot. Its VolumeSnapshot does not
// exist: nobody can bind the content, because no object has the UID of the request.
func NewContent(r *capturev1.VolumeCaptureRequest, e CreateContent) (*snapshotv1.VolumeSnapshotContent, error) {
	origin, err := json.Marshal(e.Origin)
	if err != nil {
		return nil, fmt.Errorf("encode origin: %w", err)
	}
	annotations := map[string]string{BeingDeleted: "yes", capturev1.OriginAnnotation: string(origin)}
	if e.Secret != (Secret{}) {
		annotations[deletionSecretName], annotations[deletionSecretNamespace] = e.Secret.Name, e.Secret.Namespace
	}
	c := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{
			Name: ContentName(r.UID), Annotations: annotations, Finalizers: []string{BoundProtection},
			OwnerReferences: []metav1.OwnerReference{request.KeptBy(r.UID, e.Keeper)},
		},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			VolumeSnapshotRef: corev1.ObjectReference{
				APIVersion: snapshotv1.SchemeGroupVersion.String(), Kind: "VolumeSnapshot",
				Namespace: r.Namespace, Name: ContentName(r.UID), UID: r.UID,
			},
			DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete, Driver: e.Driver,
			Source: snapshotv1.VolumeSnapshotContentSource{VolumeHandle: &e.Handle},
		},
	}
	if e.Class != "" {
		c.Spec.VolumeSnapshotClassName = &e.Class
	}
	if e.Mode != "" {
		mode := corev1.PersistentVolumeMode(e.Mode)
		c.Spec.SourceVolumeMode = &mode
	}
	return c, nil
}

// NewHolder is the claim that holds a detached volume. It asks for what the volume is, or the
// two would not be bound.
func NewHolder(uid types.UID, keeper types.UID, namespace string, v *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	class := v.Spec.StorageClassName
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: HolderName(uid),
			OwnerReferences: []metav1.OwnerReference{request.KeptBy(uid, keeper)},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: v.Spec.AccessModes, VolumeName: v.Name, VolumeMode: v.Spec.VolumeMode,
			StorageClassName: &class, VolumeAttributesClassName: v.Spec.VolumeAttributesClassName,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: v.Spec.Capacity[corev1.ResourceStorage],
			}},
		},
	}
}

// Marked is a volume that outlives its claim and says how it was before.
func Marked(v *corev1.PersistentVolume, e MarkVolume) (*corev1.PersistentVolume, error) {
	origin, err := json.Marshal(e.Origin)
	if err != nil {
		return nil, fmt.Errorf("encode origin: %w", err)
	}
	v = v.DeepCopy()
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	metav1.SetMetaDataLabel(&v.ObjectMeta, capturev1.DetachedByLabel, string(e.Origin.RequestUID))
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, capturev1.OriginAnnotation, string(origin))
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, capturev1.ReclaimPolicyAnnotation, e.Policy)
	return v, nil
}

// Unmarked is the volume as it was before.
func Unmarked(v *corev1.PersistentVolume, policy string) *corev1.PersistentVolume {
	v = v.DeepCopy()
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimPolicy(policy)
	delete(v.Labels, capturev1.DetachedByLabel)
	delete(v.Annotations, capturev1.OriginAnnotation)
	delete(v.Annotations, capturev1.ReclaimPolicyAnnotation)
	return v
}

// MarkOf reads what Marked wrote.
func MarkOf(v *corev1.PersistentVolume) Mark {
	by := types.UID(v.Labels[capturev1.DetachedByLabel])
	if by == "" {
		return Mark{}
	}
	return Mark{By: by, Policy: v.Annotations[capturev1.ReclaimPolicyAnnotation], Origin: OriginOf(v)}
}

// OriginOf reads where an artifact came from; nil if it does not say, or makes no sense.
func OriginOf(obj metav1.Object) *capturev1.Origin {
	text, has := obj.GetAnnotations()[capturev1.OriginAnnotation]
	origin := &capturev1.Origin{}
	if !has || json.Unmarshal([]byte(text), origin) != nil {
		return nil
	}
	return origin
}
