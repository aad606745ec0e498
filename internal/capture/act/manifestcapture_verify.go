package act

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// review is a checkpoint being read back.
type review struct {
	of     manifestcapture.StartVerifying
	point  *capturev1.ManifestCheckpoint
	key    []byte
	frames [][]capturev1.ChunkRef
	count  int32
	strays []metav1.PartialObjectMetadata
	looked bool // for strays
}

// verifier is the work that reads back what a checkpoint lists, and then removes chunks of the
// request that it does not list: of somebody who worked on it before, and did not get so far.
func (a ManifestCapture) verifier(r *capturev1.ManifestCaptureRequest, e manifestcapture.StartVerifying) captureJob {
	v := &review{of: e}
	return func(ctx context.Context) (result manifestcapture.Result, done bool, err error) {
		switch {
		case v.point == nil:
			err = a.open(ctx, r, v)
		case len(v.frames) > 0:
			err = a.readBack(ctx, v)
		case !v.looked:
			err = a.findStrays(ctx, r, v)
		case len(v.strays) > 0:
			err = a.removeStray(ctx, v)
		default:
			result.Checked, done = &v.count, true
		}
		return result, done, err
	}
}

func (a ManifestCapture) open(ctx context.Context, r *capturev1.ManifestCaptureRequest, v *review) error {
	point, name := &capturev1.ManifestCheckpoint{}, checkpoint.Name(r.UID)
	if err := a.Live.Get(ctx, read.Key{Name: name}, point); err != nil {
		return fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	if point.UID != v.of.Checkpoint {
		return &manifest.Refusal{Reason: capturev1.ReasonArtifactLost, Message: "The checkpoint was replaced by another one; make another request."}
	}
	if point.Spec.Encryption != nil {
		ring, err := a.ring(ctx)
		if err != nil {
			return err
		}
		if v.key, err = ring.Open(&point.Spec); err != nil {
			return unreadable(err)
		}
	}
	for _, refs := range checkpoint.Frames(&point.Spec) {
		v.frames = append(v.frames, refs)
	}
	v.point = point
	return nil
}

// readBack decodes one run of chunks.
func (a ManifestCapture) readBack(ctx context.Context, v *review) error {
	var chunks []*capturev1.ManifestCheckpointContentChunk
	for _, ref := range v.frames[0] {
		c := &capturev1.ManifestCheckpointContentChunk{}
		err := a.Live.Get(ctx, read.Key{Name: ref.Name}, c)
		if read.SaysGone(err, ref.Name) {
			return &manifest.Refusal{Reason: capturev1.ReasonIncomplete, Message: "ManifestCheckpointContentChunk " + ref.Name + " is gone; make another request."}
		} else if err != nil {
			return fmt.Errorf("read chunk %s: %w", ref.Name, err)
		}
		chunks = append(chunks, c)
	}
	objects, err := checkpoint.Decode(&v.point.Spec, v.key, chunks...)
	if err != nil {
		return unreadable(err)
	}
	v.frames = v.frames[1:]
	v.count += int32(len(objects)) //nolint:gosec // a chunk holds far fewer
	return nil
}

// unreadable is the verdict on what cannot be decoded.
func unreadable(err error) error {
	for _, one := range []struct {
		is      error
		verdict manifest.Refusal
	}{
		{checkpoint.ErrTampered, manifest.Refusal{Reason: capturev1.ReasonTampered, Message: "The manager read back something else than it wrote; make another request."}},
		{checkpoint.ErrKeyMissing, manifest.Refusal{Reason: capturev1.ReasonKeyMissing, Message: "The key that the checkpoint was encrypted with is gone; put it back into Secret " + checkpoint.KeysSecret + "."}},
		{checkpoint.ErrIncomplete, manifest.Refusal{Reason: capturev1.ReasonIncomplete, Message: "The manager read back fewer objects than it wrote; make another request."}},
	} {
		if errors.Is(err, one.is) {
			return &one.verdict
		}
	}
	return err
}

// findStrays looks for chunks of the request that the checkpoint does not list.
func (a ManifestCapture) findStrays(ctx context.Context, r *capturev1.ManifestCaptureRequest, v *review) error {
	listed := map[string]bool{}
	for _, ref := range v.point.Spec.Chunks {
		listed[ref.Name] = true
	}
	chunks := &metav1.PartialObjectMetadataList{}
	chunks.SetGroupVersionKind(capturev1.GroupVersion.WithKind(manifestcapture.KindChunk + "List"))
	if err := a.Live.List(ctx, chunks, read.Labels{manifestcapture.RequestLabel: string(r.UID)}); err != nil {
		return fmt.Errorf("list chunks: %w", err)
	}
	for _, c := range chunks.Items {
		if !listed[c.Name] && child.OwnedBy(&c, v.of.Keeper) {
			v.strays = append(v.strays, c)
		}
	}
	v.looked = true
	return nil
}

// removeStray: if it were wrong, a part of a capture would be lost: so only a chunk goes that
// the request's keeper owns and that the checkpoint, which is never changed, does not list.
func (a ManifestCapture) removeStray(ctx context.Context, v *review) error {
	stray := v.strays[0]
	err := a.remove(ctx, manifestcapture.Leftover{Kind: manifestcapture.KindChunk, Name: stray.Name, UID: stray.UID, ResourceVersion: stray.ResourceVersion})
	if err != nil {
		return err
	}
	v.strays = v.strays[1:]
	return nil
}
