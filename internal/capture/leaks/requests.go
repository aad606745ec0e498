package leaks

import (
	"context"
	"errors"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// requests reads the requests of all four kinds.
func (w *gathering) requests(ctx context.Context) error {
	var errs []error
	for _, list := range []client.ObjectList{
		&capturev1.VolumeCaptureRequestList{}, &capturev1.ManifestCaptureRequestList{},
		&capturev1.VolumeRestoreRequestList{}, &capturev1.ManifestRestoreRequestList{},
	} {
		errs = append(errs, w.each(ctx, list, func(obj client.Object) { w.Requests = append(w.Requests, describe(obj)) }))
	}
	return errors.Join(errs...)
}

// describe is what the inventory says of a request.
func describe(obj client.Object) Request {
	switch r := obj.(type) {
	case *capturev1.VolumeCaptureRequest:
		found := newRequest("VolumeCaptureRequest", obj, &r.Status.Progress, r.Status.ArtifactRef)
		found.Size, found.What = r.Status.RestoreSize, claim(r.Spec.Target.Name)
		return found
	case *capturev1.ManifestCaptureRequest:
		found := newRequest("ManifestCaptureRequest", obj, &r.Status.Progress, r.Status.CheckpointRef)
		found.What = manifests(r.Status.Captured, r.Spec.Volumes)
		return found
	case *capturev1.VolumeRestoreRequest:
		found := newRequest("VolumeRestoreRequest", obj, &r.Status.Progress, r.Status.PVCRef)
		found.What = claim(r.Spec.VolumeClaimTemplate.Name)
		return found
	case *capturev1.ManifestRestoreRequest:
		found := newRequest("ManifestRestoreRequest", obj, &r.Status.Progress, nil)
		found.What = manifests(r.Status.Objects, nil)
		return found
	}
	return Request{}
}

func newRequest(kind string, obj client.Object, p *meta.Progress, made *capturev1.ArtifactRef) Request {
	r := Request{
		Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		Phase: string(p.Phase), Created: obj.GetCreationTimestamp().Time,
	}
	if ready := apimeta.FindStatusCondition(p.Conditions, fsm.Ready); ready != nil {
		r.Ready, r.Reason = string(ready.Status), ready.Reason
	}
	if made != nil {
		r.Artifact = made.Kind + "/" + made.Name
	}
	return r
}

// Sized says how big what requests made is, where a request itself does not know.
func (i Inventory) Sized() []Request {
	sizes := map[string]int64{}
	for _, a := range i.Artifacts {
		if a.Kind == Checkpoint {
			sizes[string(a.Kind)+"/"+a.Name] = a.Bytes
		}
	}
	for n := range i.Requests {
		if bytes, ok := sizes[i.Requests[n].Artifact]; ok {
			i.Requests[n].Size = resource.NewQuantity(bytes, resource.BinarySI)
		}
	}
	return i.Requests
}

// CheckpointBytes is how much all checkpoints hold together.
func (i Inventory) CheckpointBytes() (total int64) {
	for _, a := range i.Artifacts {
		if a.Kind == Checkpoint {
			total += a.Bytes
		}
	}
	return total
}
