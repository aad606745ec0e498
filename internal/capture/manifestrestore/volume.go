package manifestrestore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// RequestAnnotation names the ManifestRestoreRequest that a VolumeRestoreRequest is made for.
const RequestAnnotation = "capture.statecraft.dev/manifest-restore"

// VolumeRequestName is the name of the request that restores a claim.
func VolumeRequestName(by types.UID, claim string) string {
	digest := sha256.Sum256([]byte(claim))
	return "restore-" + string(by) + "-" + hex.EncodeToString(digest[:5])
}

// Made says that a claim is the one that a request has made, and not about to go.
func Made(claim metav1.Object, by *capturev1.VolumeRestoreRequest) bool {
	return claim.GetAnnotations()[capturev1.RestoreAnnotation] == string(by.UID) && claim.GetDeletionTimestamp() == nil
}

// Held is where the volume of a claim is: with its capture or, if that is gone, in what the capture has left.
type Held struct {
	In    capturev1.VolumeSource
	Takes *resource.Quantity // how much room; nil if it is moved, and not copied
}

// HeldBy is that of a capture which is there, in the namespace that was captured.
func HeldBy(c *capturev1.VolumeCaptureRequest, into string) Held {
	ref := &capturev1.RequestRef{Name: c.Name, UID: c.UID}
	if c.Namespace != into {
		ref.Namespace = c.Namespace
	}
	h := Held{In: capturev1.VolumeSource{VolumeCaptureRequest: ref}}
	if c.Spec.Mode != capturev1.Detach {
		h.Takes = c.Status.RestoreSize
	}
	return h
}

// IsOf says that something is what the capture of the claim has left. Names are used again, and anybody who writes such
// objects can give them any, so it must say itself where it is from: which capture, which namespace, which claim.
func (i Item) IsOf(captured capturev1.Origin, origin *capturev1.Origin) bool {
	return origin != nil && i.CaptureUID != "" && origin.RequestUID == i.CaptureUID && origin.Claim == i.Name &&
		captured.NamespaceUID != "" && origin.NamespaceUID == captured.NamespaceUID
}

// VolumeRequest is the request that restores the volume of a claim, on behalf of the same
// requester. It has no more time than the request that it is made for, and asks for no less than
// what was captured takes: drivers round up what a claim asked for.
func VolumeRequest(r *capturev1.ManifestRestoreRequest, i Item, held Held, now time.Time) (*capturev1.VolumeRestoreRequest, error) {
	var pvc corev1.PersistentVolumeClaim
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(i.Object.Object, &pvc); err != nil {
		return nil, fmt.Errorf("read claim %s: %w", i.Name, err)
	}
	annotations := map[string]string{MarkAnnotation: Mark{By: r.UID, As: capturev1.ResultCreated}.String()}
	for key, value := range pvc.Annotations {
		annotations[key] = value
	}
	if asked := pvc.Spec.Resources.Requests[corev1.ResourceStorage]; held.Takes != nil && asked.Cmp(*held.Takes) < 0 {
		pvc.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: *held.Takes}
	}
	left := request.Deadline(r, r.Spec.DeadlineSeconds).Sub(now)
	return &capturev1.VolumeRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: VolumeRequestName(r.UID, i.Name),
			Annotations: map[string]string{RequestAnnotation: r.Name},
		},
		Spec: capturev1.VolumeRestoreRequestSpec{
			Source: held.In,
			VolumeClaimTemplate: capturev1.VolumeClaimTemplate{
				Name: i.Name, Labels: pvc.Labels, Annotations: annotations,
				Spec: capturev1.RestoredClaimSpec{
					AccessModes: pvc.Spec.AccessModes, Resources: pvc.Spec.Resources,
					StorageClassName: pvc.Spec.StorageClassName, VolumeMode: pvc.Spec.VolumeMode,
				},
			},
			DeadlineSeconds: max(1, int32(left/time.Second)),
			Requester:       r.Spec.Requester.DeepCopy(),
		},
	}, nil
}
