package act

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// ManifestCapture performs the effects of a ManifestCaptureRequest.
type ManifestCapture struct {
	Writer kube.Writer
	Live   read.Live
	Work   *kube.Worker[manifestcapture.Result]
	Buffer *CaptureBuffer
	Source Source
	// KeysIn is the namespace of the Secret with the keys.
	KeysIn string
	// Terms are for how long captures outlive their request, besides what that asks for.
	Terms request.Terms
	// Budget is what checkpoints may hold, and Held counts what they do.
	Budget manifestcapture.Budget
	Held   func(ctx context.Context, namespace types.UID) (all, own int64, err error)
	// Rights asks for rights of a requester, of this moment.
	Rights AskRights
}

// captureJob is work on a capture.
type captureJob = kube.Job[manifestcapture.Result]

// Act performs one effect.
func (a ManifestCapture) Act(ctx context.Context, r *capturev1.ManifestCaptureRequest, effect fsm.Effect) (string, error) {
	key := client.ObjectKeyFromObject(r)
	switch e := effect.(type) {
	case manifestcapture.CreateKeeper:
		terms := a.Terms
		terms.Retain = r.Spec.RetainAfterDeletion
		return createKeeper(ctx, a.Writer, request.NewKeeper(r, capturev1.GroupVersion.WithKind("ManifestCaptureRequest"), e.Namespace, terms))
	case manifestcapture.StartReading:
		task := manifestcapture.TaskOf(manifestcapture.TaskRead, r.UID, e.Moment)
		return "", a.start(key, task, a.reader(r, e.Moment))
	case manifestcapture.StartWriting:
		task := manifestcapture.TaskOf(manifestcapture.TaskWrite, r.UID, e.Moment)
		return "", a.start(key, task, a.writer(r, e))
	case manifestcapture.StartVerifying:
		task := manifestcapture.TaskOf(manifestcapture.TaskVerify, r.UID, e.Moment)
		return "", a.start(key, task, a.verifier(r, e))
	case manifestcapture.StopWork:
		a.Work.Forget(key)
		a.Buffer.Drop(key)
		return "", nil
	case manifestcapture.Remove:
		return "", a.remove(ctx, e.Leftover)
	}
	return "", fmt.Errorf("unknown effect %s", effect)
}

// start begins work, unless it is under way. What fails is told, with its verdict, every time, and tried ever more seldom.
func (a ManifestCapture) start(key read.Key, task string, job captureJob) error {
	err := a.Work.Ensure(key, task, job)
	if verdict := (*manifest.Refusal)(nil); errors.As(err, &verdict) {
		return &fsm.Error{Class: fsm.Transient, Err: err, Say: verdict.Message}
	}
	return err
}

// remove removes a leftover. If it were wrong, somebody's capture would be lost: so only the
// very object in the very version goes that was seen to belong to the request's keeper.
func (a ManifestCapture) remove(ctx context.Context, l manifestcapture.Leftover) error {
	named := metav1.ObjectMeta{Name: l.Name}
	var obj client.Object = &capturev1.ManifestCheckpointContentChunk{ObjectMeta: named}
	if l.Kind == manifestcapture.KindCheckpoint {
		obj = &capturev1.ManifestCheckpoint{ObjectMeta: named}
	}
	return a.Writer.Delete(ctx, obj, kube.Seen{UID: l.UID, ResourceVersion: l.ResourceVersion})
}
