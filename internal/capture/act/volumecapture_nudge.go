package act

import (
	"context"
	"fmt"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// DeletionNudger touches contents of ours that hang while they are deleted. Nobody else is left to
// do it: by then request and keeper are gone.
type DeletionNudger struct {
	Writer kube.Writer
	Live   read.Live
	Now    func() time.Time
}

// Reconcile looks at one content, and says when to look again.
func (k DeletionNudger) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	content := &metav1.PartialObjectMetadata{}
	content.SetGroupVersionKind(snapshotv1.SchemeGroupVersion.WithKind("VolumeSnapshotContent"))
	err := k.Live.Get(ctx, read.Key{Name: req.Name}, content)
	if read.SaysGone(err, req.Name) {
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, fmt.Errorf("read content %s: %w", req.Name, err)
	}
	nudge, again := volumecapture.NeedsNudge(content, k.Now())
	if !nudge {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	next := content.DeepCopy()
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, volumecapture.NudgeAnnotation, k.Now().UTC().Format(time.RFC3339))
	return reconcile.Result{RequeueAfter: again}, k.Writer.Patch(ctx, content, next)
}
