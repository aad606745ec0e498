package act

import (
	"context"
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Account is the ServiceAccount that does for users what they ask for in a namespace.
const Account = "statecraft-capture"

// volume asks for the volume of a claim. The manager makes that request, on behalf of the
// requester, so it asks itself what admission would ask of the requester.
func (j *restoreJob) volume(ctx context.Context, item manifestrestore.Item) (r capturev1.ObjectResult, err error) {
	from := j.spec.Origin.Namespace
	if j.orphans {
		return fails(capturev1.ReasonNotFound, "the namespace that its volume was captured in is gone, and with it VolumeCaptureRequest "+item.Capture), nil
	}
	if from != j.request.Namespace {
		may, err := j.May(ctx, j.request.Spec.Requester, &authorizationv1.ResourceAttributes{
			Verb: "restore", Group: capturev1.GroupVersion.Group, Resource: "volumecapturerequests", Namespace: from, Name: item.Capture,
		})
		if err != nil {
			return r, fmt.Errorf("ask whether the requester may restore %s/%s: %w", from, item.Capture, err)
		}
		if !may {
			return fails(capturev1.ReasonForbidden, "the requester may not restore VolumeCaptureRequest "+from+"/"+item.Capture), nil
		}
	}
	if j.stage == manifestrestore.Plan {
		return capturev1.ObjectResult{Result: capturev1.ResultCreated}, nil
	}
	wanted, err := manifestrestore.VolumeRequest(j.request, item, from, j.Now())
	if err != nil {
		return r, err
	}
	wanted.OwnerReferences = []metav1.OwnerReference{request.KeptBy(j.request.UID, j.keeper)}
	err = j.Writer.Create(ctx, wanted)
	switch api := apierrors.APIStatus(nil); {
	case err == nil:
		return capturev1.ObjectResult{Result: capturev1.ResultPending, Reason: manifestrestore.ReasonWaitingForVolumes, Message: "VolumeRestoreRequest " + wanted.Name}, nil
	case fsm.ClassOf(err) == fsm.Refused && !errors.As(err, &api):
		return fails(capturev1.ReasonNameTaken, "somebody else has the name VolumeRestoreRequest "+wanted.Name), nil
	}
	return j.refusal(item, err)
}

// volumeResult is what became of the request for the volume of a claim, if there is one.
func (j *restoreJob) volumeResult(ctx context.Context, item manifestrestore.Item) (r capturev1.ObjectResult, asked bool, err error) {
	if item.Capture == "" {
		return r, false, nil
	}
	var v capturev1.VolumeRestoreRequest
	name := manifestrestore.VolumeRequestName(j.request.UID, item.Name)
	switch err := j.Live.Get(ctx, read.Key{Namespace: j.request.Namespace, Name: name}, &v); {
	case read.SaysGone(err, name):
		return r, false, nil
	case err != nil:
		return r, false, fmt.Errorf("read volume restore %s: %w", name, err)
	}
	if !read.OwnedBy(&v, j.keeper) {
		return r, false, nil
	}
	ready := apimeta.FindStatusCondition(v.Status.Conditions, fsm.Ready)
	switch {
	case ready == nil:
		return capturev1.ObjectResult{Result: capturev1.ResultPending, Reason: manifestrestore.ReasonWaitingForVolumes, Message: "VolumeRestoreRequest " + name}, true, nil
	case ready.Status != metav1.ConditionTrue:
		return fails(meta.Reason(ready.Reason), "VolumeRestoreRequest "+name+": "+ready.Message), true, nil
	}
	r = capturev1.ObjectResult{Result: capturev1.ResultCreated}
	if v.Status.PVCRef != nil {
		r.UID = v.Status.PVCRef.UID
	}
	return r, true, nil
}
