package kube

import (
	"context"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// ReleaseJob lets the very suspended Job run that was seen, in the version that was decided
// upon. One that was changed, deleted or made anew since is not released, and the error is of
// class Changed: what was decided about it may no longer hold.
func (w Writer) ReleaseJob(ctx context.Context, job *batchv1.Job, seen Seen) error {
	if seen.UID == "" || seen.ResourceVersion == "" {
		return &fsm.Error{Class: fsm.Refused, Err: fmt.Errorf("release job %s: not seen before", job.Name)}
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": seen.UID, "resourceVersion": seen.ResourceVersion},
		"spec":     map[string]any{"suspend": false},
	})
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	err = w.client.Patch(ctx, job, client.RawPatch(types.MergePatchType, patch), w.owner)
	// A wrong UID is told as an immutable field: 422, which would be a refusal for good.
	if apierrors.IsInvalid(err) && w.wasReplaced(ctx, job, seen.UID) {
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("release job %s: it was replaced: %w", job.Name, err)}
	}
	return wrap("release", job, err)
}

// wasReplaced says that somebody else has the name of obj by now.
func (w Writer) wasReplaced(ctx context.Context, obj client.Object, uid types.UID) bool {
	there, err := w.named(ctx, obj)
	return err == nil && there.GetUID() != uid
}
