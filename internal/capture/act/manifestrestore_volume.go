package act

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Account is the ServiceAccount that does for users what they ask for in a namespace.
const Account = request.Account

// volume asks for the volume of a claim. A plan in which it cannot be had is refused as a whole:
// without its data, what uses the claim is not what was captured.
func (j *restoreJob) volume(ctx context.Context, item manifestrestore.Item) (r capturev1.ObjectResult, err error) {
	held, err := j.held(ctx, item)
	lacks := (*refused)(nil)
	switch {
	case j.stage == manifestrestore.Plan:
		return capturev1.ObjectResult{Result: capturev1.ResultCreated}, err
	case errors.As(err, &lacks):
		return fails(lacks.reason, lacks.message), nil
	case err != nil:
		return r, err
	}
	wanted, err := manifestrestore.VolumeRequest(j.request, item, held, j.Now())
	if err != nil {
		return r, err
	}
	wanted.OwnerReferences = []metav1.OwnerReference{request.KeptBy(j.request.UID, j.keeper)}
	err = j.Writer.Create(ctx, wanted)
	switch api := apierrors.APIStatus(nil); {
	case err == nil:
		return awaited(wanted), nil
	case fsm.ClassOf(err) == fsm.Refused && !errors.As(err, &api):
		return fails(capturev1.ReasonNameTaken, "VolumeRestoreRequest "+wanted.Name+" exists and is not of this restore."), nil
	}
	return j.refusal(item, err)
}

// awaits says that a claim must be there before the job goes on.
type awaits struct{ request string }

func (e *awaits) Error() string {
	return "VolumeRestoreRequest " + e.request + " has not made its claim"
}

// claim looks whether the claims are there whose volumes are restored. Without one of them nothing
// is written that may use it.
func (j *restoreJob) claim(ctx context.Context) error {
	for i, item := range j.items[:j.next] {
		was := j.results[i].Result
		if item.Capture == "" || was != capturev1.ResultPending && was != capturev1.ResultFailed {
			continue
		}
		if lacks, err := j.lacks(ctx, i); err != nil || lacks {
			return err
		}
	}
	j.claimed = true
	return nil
}

// lacks says that a claim will not be there, and ends the restore at it.
func (j *restoreJob) lacks(ctx context.Context, i int) (bool, error) {
	item, was := j.items[i], j.results[i]
	if was.Result == capturev1.ResultFailed { // also where the claim is somebody's, who has the name: the data is another
		j.stop()
		return true, nil
	}
	there, err := j.looked(ctx, item)
	if err != nil {
		return false, fmt.Errorf("look for claim %s: %w", item.Name, err)
	}
	v, err := j.volumeRequest(ctx, item)
	if err != nil {
		return false, err
	}
	switch r := volumeResult(v, there); {
	case r.Result == capturev1.ResultFailed:
		r.Group, r.Resource, r.Name = was.Group, was.Resource, item.Name
		j.results[i], j.failed[item.Key] = r, true
		j.stop()
		return true, nil
	case r.Result == capturev1.ResultPending && (there == nil || !manifestrestore.Made(there, v)):
		return false, &awaits{v.Name}
	}
	return false, nil
}

// marked is what became of a claim that bears our mark: its volume was asked for, and the mark does not say that it came.
func (j *restoreJob) marked(ctx context.Context, item manifestrestore.Item, there *unstructured.Unstructured) (r capturev1.ObjectResult, err error) {
	v, err := j.volumeRequest(ctx, item)
	if err != nil {
		return r, err
	}
	if r = volumeResult(v, there); r.Result == capturev1.ResultPending && manifestrestore.Made(there, v) {
		r.UID = there.GetUID() // what it owns names it
	}
	return r, nil
}

// volumeRequest is the request for the volume of a claim; nil if there is none.
func (j *restoreJob) volumeRequest(ctx context.Context, item manifestrestore.Item) (*capturev1.VolumeRestoreRequest, error) {
	var v capturev1.VolumeRestoreRequest
	name := manifestrestore.VolumeRequestName(j.request.UID, item.Name)
	switch err := j.Live.Get(ctx, read.Key{Namespace: j.request.Namespace, Name: name}, &v); {
	case read.SaysGone(err, name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read volume restore %s: %w", name, err)
	case !child.OwnedBy(&v, j.keeper):
		return nil, nil
	}
	return &v, nil
}

// volumeResult is what became of a claim, going by the request for its volume and by what has
// its name.
func volumeResult(v *capturev1.VolumeRestoreRequest, there *unstructured.Unstructured) capturev1.ObjectResult {
	var uid types.UID
	if there != nil {
		uid = there.GetUID()
	}
	if v == nil {
		if phase, _, _ := unstructured.NestedString(fieldsOf(there), "status", "phase"); phase == string(corev1.ClaimBound) {
			return capturev1.ObjectResult{Result: capturev1.ResultCreated, UID: uid}
		}
		return fails(manifestrestore.ReasonVanished, "The VolumeRestoreRequest of the claim was deleted before it had ended.")
	}
	ready := apimeta.FindStatusCondition(v.Status.Conditions, fsm.Ready)
	switch {
	case ready == nil:
		return awaited(v)
	case ready.Status != metav1.ConditionTrue:
		return fails(meta.Reason(ready.Reason), "VolumeRestoreRequest "+v.Name+": "+ready.Message)
	case v.Status.PVCRef == nil || v.Status.PVCRef.UID != uid:
		return fails(manifestrestore.ReasonVanished, "The claim was restored, and somebody has deleted it since.")
	}
	return capturev1.ObjectResult{Result: capturev1.ResultCreated, UID: uid}
}

func awaited(v *capturev1.VolumeRestoreRequest) capturev1.ObjectResult {
	return capturev1.ObjectResult{Result: capturev1.ResultPending, Reason: manifestrestore.ReasonWaitingForVolumes, Message: "Waiting for VolumeRestoreRequest " + v.Name + " to end."}
}

func fieldsOf(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	return obj.Object
}
